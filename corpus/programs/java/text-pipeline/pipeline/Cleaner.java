package pipeline;

/** Takes comments and empty lines out. */
final class Cleaner extends Stage<Line, Line> {
    private int dropped;

    Cleaner(Channel<Line> input, Channel<Line> output) {
        super("cleaner", input, output);
    }

    @Override
    protected void process(Line line) throws InterruptedException {
        int comment = line.text().indexOf('#');
        if (comment >= 0) {
            line.replace(line.text().substring(0, comment));
        }
        if (line.text().isEmpty()) {
            dropped++;
        } else {
            output.send(line);
        }
    }

    int dropped() {
        return dropped;
    }
}
