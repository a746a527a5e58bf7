/** Cuts lines into words, and sends them to one of two counters by their first letter. */
final class Splitter implements Actor {
    private final Ref early;
    private final Ref late;
    private int failures;

    Splitter(Ref early, Ref late) {
        this.early = early;
        this.late = late;
    }

    @Override
    public void receive(Message message) {
        if (!(message instanceof Message.Line)) {
            return;
        }
        String text = ((Message.Line) message).text;
        for (int i = 0; i < text.length(); i++) {
            if (Character.isDigit(text.charAt(i))) {
                throw new IllegalArgumentException("digit in: " + text);
            }
        }
        for (String word : text.split(" ")) {
            Ref target = word.charAt(0) <= 'm' ? early : late;
            target.tell(new Message.Word(word));
        }
    }

    @Override
    public void failed(RuntimeException error) {
        failures++;
    }

    int failures() {
        return failures;
    }
}
