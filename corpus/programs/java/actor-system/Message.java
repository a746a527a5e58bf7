/** All messages are immutable. */
abstract class Message {
    static final class Line extends Message {
        final String text;

        Line(String text) {
            this.text = text;
        }
    }

    static final class Word extends Message {
        final String text;

        Word(String text) {
            this.text = text;
        }
    }

    static final class Ask extends Message {
        final Ref from;

        Ask(Ref from) {
            this.from = from;
        }
    }

    static final class Answer extends Message {
        final int count;
        final String longest;

        Answer(int count, String longest) {
            this.count = count;
            this.longest = longest;
        }
    }
}
