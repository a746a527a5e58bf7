/** How bad it is. */
enum Level {
    DEBUG('d'), NOTE('n'), WARNING('w'), ERROR('e');

    private final char mark;

    Level(char mark) {
        this.mark = mark;
    }

    char mark() {
        return mark;
    }

    boolean atLeast(Level other) {
        return compareTo(other) >= 0;
    }
}
