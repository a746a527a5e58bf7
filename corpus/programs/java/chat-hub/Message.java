/** A line of somebody in some room. */
final class Message {
    private final String author;
    private final String room;
    private final String text;

    Message(String author, String room, String text) {
        this.author = author;
        this.room = room;
        this.text = text;
    }

    String author() {
        return author;
    }

    String room() {
        return room;
    }

    String text() {
        return text;
    }

    @Override
    public String toString() {
        return author + "@" + room + ": " + text;
    }
}
