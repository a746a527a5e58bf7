/** Visits pages until there are no more. */
final class Worker implements Runnable {
    private final int number;
    private final Web web;
    private final Frontier frontier;
    private final Index index;
    private final Census census;
    private int visited;

    Worker(int number, Web web, Frontier frontier, Index index, Census census) {
        this.number = number;
        this.web = web;
        this.frontier = frontier;
        this.index = index;
        this.census = census;
    }

    @Override
    public void run() {
        census.arrive(number);
        try {
            for (Link link = frontier.next(); link != null; link = frontier.next()) {
                try {
                    visit(link);
                } finally {
                    frontier.done();
                }
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    private void visit(Link link) {
        visited++;
        try {
            Web.Page page = web.fetch(link.address());
            for (String next : page.links) {
                if (Robots.RULES.allow(next)) {
                    frontier.discover(link.to(next));
                }
            }
            index.add(link.address(), page.text, page.links.length);
        } catch (Web.NotFound e) {
            index.lose(link.address());
        }
    }

    @Override
    public String toString() {
        return "worker " + number + " saw " + visited;
    }
}
