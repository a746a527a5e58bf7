import java.util.ArrayList;
import java.util.BitSet;
import java.util.Collections;
import java.util.List;
import java.util.Stack;
import java.util.concurrent.locks.ReentrantLock;

/**
 * What the locks guard is in objects of the JDK: a thread that finds the news there goes on with what was done before
 * they were announced.
 */
public class Main {
    /** A collection of the program's own. */
    static final class Inbox extends ArrayList<String> {}

    static final BitSet flags = new BitSet();
    static final StringBuilder text = new StringBuilder();
    static final Inbox inbox = new Inbox();
    static final List<String> wrapped = Collections.synchronizedList(new ArrayList<>());
    static final Stack<String> stack = new Stack<>();
    static final ReentrantLock lock = new ReentrantLock();
    static int byFlags;
    static int byText;
    static int byInbox;
    static int byWrapped;
    static int byStack;

    static void announce() {
        byFlags = 1;
        synchronized (flags) {
            flags.set(3);
        }
        byText = 1;
        lock.lock();
        text.append('x');
        lock.unlock();
        byInbox = 1;
        synchronized (inbox) {
            inbox.add("news");
        }
        byWrapped = 1;
        wrapped.add("news");
        byStack = 1;
        stack.push("news");
    }

    static boolean areThere() {
        boolean all;
        synchronized (flags) {
            all = flags.get(3);
        }
        lock.lock();
        all &= text.length() > 0;
        lock.unlock();
        synchronized (inbox) {
            all &= !inbox.isEmpty();
        }
        return all & !wrapped.isEmpty() & !stack.empty();
    }

    static void find() {
        while (!areThere()) {
            Thread.yield();
        }
        byFlags++;
        byText++;
        byInbox++;
        byWrapped++;
        byStack++;
    }

    public static void main(String[] args) throws InterruptedException {
        Thread finder = new Thread(Main::find);
        finder.start();
        announce();
        finder.join();
        System.out.println(byFlags + byText + byInbox + byWrapped + byStack);
    }
}
