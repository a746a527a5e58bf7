package pipeline;

/** A pipeline of threads over a text: a source, a cleaner, two lexers, two talliers. */
public final class Main {
    private static final String TEXT = "let x = 10 # ten\nlet y = x + 32\n\n# only a comment\n"
        + "print y\nif y > x then print 7 end\nlast line";

    private Main() {
    }

    public static void main(String[] args) throws Exception {
        Channel<Line> raw = new Channel<>(2, 1);
        Channel<Line> clean = new Channel<>(3, 1);
        Channel<Token> tokens = new Channel<>(4, 2);
        Histogram histogram = new Histogram();
        Cleaner cleaner = new Cleaner(raw, clean);
        Stage<?, ?>[] stages = {
            cleaner,
            new Lexer("lexer 1", clean, tokens),
            new Lexer("lexer 2", clean, tokens),
            new Tallier("tallier 1", tokens, histogram),
            new Tallier("tallier 2", tokens, histogram),
        };
        Source source = new Source(TEXT, raw);
        for (Stage<?, ?> stage : stages) {
            stage.start();
        }
        source.start();
        source.join();
        int received = 0;
        for (Stage<?, ?> stage : stages) {
            stage.join();
            received += stage.received();
        }
        System.out.println(histogram.summary());
        System.out.println("received " + received + " dropped " + cleaner.dropped());
    }
}
