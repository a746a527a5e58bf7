import java.util.ArrayList;
import java.util.List;

/** The segments: one that is written, and those that are full. Written by the log's writer thread. */
final class Archive {
    private final int limit;
    private final Layout layout;
    private final List<Segment> full = new ArrayList<>();
    private Segment current;
    private long letters;

    Archive(int limit, Layout layout) {
        this.limit = limit;
        this.layout = layout;
        this.current = new Segment(1, limit);
    }

    synchronized void append(Line line) {
        String text = layout.format(line);
        if (!current.fits(text)) {
            rotate();
        }
        current.add(text);
        letters += text.length();
    }

    private void rotate() {
        full.add(current);
        current = new Segment(current.number() + 1, limit);
    }

    /** The mistake: not synchronized, for it is only a number. */
    long letters() {
        return letters;
    }

    synchronized int segments() {
        return full.size() + 1;
    }

    /** The segment that was filled last, or the only one. */
    synchronized String newest() {
        return full.isEmpty() ? current.name() : full.get(full.size() - 1).name();
    }

    synchronized int lines() {
        int sum = current.lines();
        for (Segment segment : full) {
            sum += segment.lines();
        }
        return sum;
    }
}
