package bank;

/** An order by a customer, parsed from a line such as `transfer 1 2 30` or `pay 3 5`. */
final class Request {
    enum Kind {
        TRANSFER, PAY, TAKE, END
    }

    static final Request LAST = new Request(Kind.END, 0, 0, 0);

    final Kind kind;
    final int from;
    final int to;
    final long cents;

    private Request(Kind kind, int from, int to, long cents) {
        this.kind = kind;
        this.from = from;
        this.to = to;
        this.cents = cents;
    }

    static Request parse(String line) {
        String[] words = line.trim().split(" +");
        switch (words[0]) {
            case "transfer":
                need(words, 4);
                return new Request(Kind.TRANSFER, number(words[1]), number(words[2]), number(words[3]));
            case "pay":
                need(words, 3);
                return new Request(Kind.PAY, 0, number(words[1]), number(words[2]));
            case "take":
                need(words, 3);
                return new Request(Kind.TAKE, number(words[1]), 0, number(words[2]));
            default:
                throw new IllegalArgumentException("no such order: " + line);
        }
    }

    private static void need(String[] words, int count) {
        if (words.length != count) {
            throw new IllegalArgumentException(words[0] + " needs " + (count - 1) + " numbers");
        }
    }

    private static int number(String word) {
        int value = 0;
        for (int i = 0; i < word.length(); i++) {
            value = 10 * value + Character.digit(word.charAt(i), 10);
        }
        return value;
    }
}
