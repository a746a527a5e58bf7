/** The front of it: a ring of lines between the services and a writer thread. */
final class Log {
    private final Archive archive;
    private final Level threshold;
    private final Line[] ring = new Line[8];
    private int first;
    private int used;
    private int dropped;
    private Thread writer;

    Log(Archive archive, Level threshold) {
        this.archive = archive;
        this.threshold = threshold;
    }

    void open() {
        writer = new Thread(this::drain, "writer");
        writer.start();
    }

    void write(Level level, String text) {
        if (level.atLeast(threshold)) {
            put(new Line(level, text));
        } else {
            drop();
        }
    }

    private synchronized void drop() {
        dropped++;
    }

    private synchronized void put(Line line) {
        boolean interrupted = false;
        while (used == ring.length) {
            try {
                wait();
            } catch (InterruptedException e) {
                interrupted = true; // a log does not lose lines for it
            }
        }
        ring[(first + used) % ring.length] = line;
        used++;
        notifyAll();
        if (interrupted) {
            Thread.currentThread().interrupt();
        }
    }

    private synchronized Line take() throws InterruptedException {
        while (used == 0) {
            wait();
        }
        Line line = ring[first];
        ring[first] = null;
        first = (first + 1) % ring.length;
        used--;
        notifyAll();
        return line;
    }

    private void drain() {
        try {
            for (Line line = take(); line != Line.END; line = take()) {
                archive.append(line);
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    void close() throws InterruptedException {
        put(Line.END);
        writer.join();
    }

    synchronized int dropped() {
        return dropped;
    }
}
