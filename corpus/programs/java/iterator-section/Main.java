import java.util.ArrayList;
import java.util.Arrays;
import java.util.Iterator;
import java.util.List;

/**
 * A reader makes an iterator over the lines of a log and uses it, all in one critical section, so that no line comes in
 * between. It reads another log, too, which changes as it likes before that.
 */
public class Main {
    static final ArrayList<String> lines = new ArrayList<>();
    static final List<String> notes = new ArrayList<>();
    static int length;

    static void reader() {
        Iterator<String> iterator;
        synchronized (lines) {
            iterator = lines.iterator();
            /* still in the section */
            length = iterator.next().length();
        }
    }

    static void writer() {
        synchronized (lines) {
            lines.add("third");
        }
    }

    /** Waits for the end of a thread by looking for it among all threads, which orders nothing. */
    static void untilEnded(Thread thread) throws InterruptedException {
        for (boolean isThere = true; isThere; Thread.sleep(1)) {
            Thread[] all = new Thread[100];
            Thread.enumerate(all);
            isThere = Arrays.asList(all).contains(thread);
        }
    }

    public static void main(String[] args) throws Exception {
        lines.add("first");
        notes.add("a");
        Iterator<String> own = notes.iterator();
        int noted = own.next().length();
        notes.add("b");
        Thread reader = new Thread(Main::reader);
        Thread writer = new Thread(Main::writer);
        reader.start();
        untilEnded(reader);
        writer.start();
        reader.join();
        writer.join();
        System.out.println(lines.size() + " lines, " + (length + noted) + " read");
    }
}
