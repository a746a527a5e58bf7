import java.util.ArrayList;
import java.util.List;

/** A file, if this were not all in memory. */
final class Segment {
    private final int number;
    private final int limit;
    private final List<String> lines = new ArrayList<>();
    private int used;

    Segment(int number, int limit) {
        this.number = number;
        this.limit = limit;
    }

    boolean fits(String line) {
        return used == 0 || used + line.length() <= limit;
    }

    void add(String line) {
        lines.add(line);
        used += line.length();
    }

    int number() {
        return number;
    }

    int lines() {
        return lines.size();
    }

    /** The name a file would have. */
    String name() {
        return String.format("log.%03d", number);
    }
}
