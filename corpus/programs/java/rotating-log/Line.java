/** What somebody wrote, as it waits for the writer. */
final class Line {
    static final Line END = new Line(Level.DEBUG, "");

    final Level level;
    final String text;

    Line(Level level, String text) {
        this.level = level;
        this.text = text;
    }
}
