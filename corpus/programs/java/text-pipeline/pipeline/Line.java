package pipeline;

/** A line on its way. Only the stage that has it touches it, so the text may change. */
final class Line {
    private final int number;
    private String text;
    private int cuts;

    Line(int number, String text) {
        this.number = number;
        this.text = text;
    }

    int number() {
        return number;
    }

    String text() {
        return text;
    }

    void replace(String with) {
        text = with;
        cuts++;
    }

    int cuts() {
        return cuts;
    }
}
