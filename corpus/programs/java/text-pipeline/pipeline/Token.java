package pipeline;

/** A word, a number or a sign. */
final class Token {
    enum Kind {
        WORD, NUMBER, SIGN
    }

    private final Kind kind;
    private final String text;
    private final int line;

    Token(Kind kind, String text, int line) {
        this.kind = kind;
        this.text = text;
        this.line = line;
    }

    Kind kind() {
        return kind;
    }

    @Override
    public String toString() {
        return line + ":" + text;
    }
}
