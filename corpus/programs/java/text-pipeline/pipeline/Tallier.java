package pipeline;

/** Counts tokens by kind for itself, and adds its counts to the others' when all is read. */
final class Tallier extends Stage<Token, Void> {
    private final int[] mine = new int[Token.Kind.values().length];
    private final Histogram histogram;

    Tallier(String name, Channel<Token> input, Histogram histogram) {
        super(name, input, null);
        this.histogram = histogram;
    }

    @Override
    protected void process(Token token) {
        mine[token.kind().ordinal()]++;
    }

    @Override
    protected void finish() {
        histogram.merge(mine);
    }
}
