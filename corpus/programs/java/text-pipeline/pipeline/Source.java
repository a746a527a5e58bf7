package pipeline;

/** Sends the lines of a text, one by one. */
final class Source extends Thread {
    private final String text;
    private final Channel<Line> output;

    Source(String text, Channel<Line> output) {
        super("source");
        this.text = text;
        this.output = output;
    }

    @Override
    public void run() {
        try {
            int number = 1;
            int start = 0;
            for (int end = text.indexOf('\n'); end >= 0; end = text.indexOf('\n', start)) {
                output.send(new Line(number++, text.substring(start, end)));
                start = end + 1;
            }
            if (start < text.length()) {
                output.send(new Line(number, text.substring(start)));
            }
            output.close();
        } catch (InterruptedException e) {
            interrupt();
        }
    }
}
