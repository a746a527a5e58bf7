package bank;

import java.util.ArrayDeque;
import java.util.Deque;

/** Where customers leave their requests and a teller takes them, in order. */
final class Counter {
    private final Deque<Request> waiting = new ArrayDeque<>();
    private int left;

    synchronized void leave(Request request) {
        waiting.addLast(request);
        left++;
        notifyAll();
    }

    synchronized Request next() throws InterruptedException {
        while (left == 0) {
            wait();
        }
        left--;
        return waiting.removeFirst();
    }
}
