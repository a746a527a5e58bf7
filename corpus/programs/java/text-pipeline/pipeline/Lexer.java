package pipeline;

/** Cuts lines into tokens. */
final class Lexer extends Stage<Line, Token> {
    Lexer(String name, Channel<Line> input, Channel<Token> output) {
        super(name, input, output);
    }

    @Override
    protected void process(Line line) throws InterruptedException {
        String text = line.text();
        int at = 0;
        while (at < text.length()) {
            char first = text.charAt(at);
            int end = at + 1;
            if (Character.isLetter(first)) {
                while (end < text.length() && Character.isLetter(text.charAt(end))) {
                    end++;
                }
                output.send(new Token(Token.Kind.WORD, text.substring(at, end), line.number()));
            } else if (Character.isDigit(first)) {
                while (end < text.length() && Character.isDigit(text.charAt(end))) {
                    end++;
                }
                output.send(new Token(Token.Kind.NUMBER, text.substring(at, end), line.number()));
            } else if (first != ' ') {
                output.send(new Token(Token.Kind.SIGN, text.substring(at, end), line.number()));
            }
            at = end;
        }
    }
}
