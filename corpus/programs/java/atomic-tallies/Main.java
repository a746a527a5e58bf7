import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicIntegerArray;
import java.util.concurrent.atomic.AtomicIntegerFieldUpdater;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.atomic.LongAdder;

/** A poll whose tallies are all atomic, each by another class; a stack of names hangs off an atomic reference. */
class Poll {
    private static final AtomicIntegerFieldUpdater<Poll> SPOILT =
        AtomicIntegerFieldUpdater.newUpdater(Poll.class, "spoilt");

    static final class Name {
        final String text;
        final Name next;

        Name(String text, Name next) {
            this.text = text;
            this.next = next;
        }
    }

    private final AtomicInteger votes = new AtomicInteger();
    private final AtomicLong weight = new AtomicLong();
    private final AtomicIntegerArray perChoice = new AtomicIntegerArray(3);
    private final AtomicReference<Name> names = new AtomicReference<>();
    private final AtomicBoolean opened = new AtomicBoolean();
    private final LongAdder ink = new LongAdder();
    private volatile int spoilt;
    private int opener;
    private int hurried;

    void vote(int choice, String name) {
        votes.incrementAndGet();
        weight.addAndGet(choice);
        perChoice.getAndIncrement(choice);
        ink.add(2);
        if (choice == 0) {
            SPOILT.incrementAndGet(this);
        }
        Name top;
        Name mine;
        do {
            top = names.get();
            mine = new Name(name, top);
        } while (!names.compareAndSet(top, mine));
        if (opened.compareAndSet(false, true)) {
            opener = choice + 1; // one thread only comes here
        }
    }

    void hurry() {
        hurried++;
    }

    String summary() {
        int length = 0;
        for (Name name = names.get(); name != null; name = name.next) {
            length += name.text.length();
        }
        return votes + " " + weight + " " + perChoice + " " + spoilt
            + " " + length + " " + ink.sum() + " " + (opener > 0) + (hurried > 0);
    }
}

public class Main {
    static class Voter extends Thread {
        final Poll poll;

        Voter(Poll poll) {
            this.poll = poll;
        }

        @Override
        public void run() {
            for (int i = 0; i < 6; i++) {
                poll.vote(i % 3, "v" + i);
            }
        }
    }

    public static void main(String[] args) throws Exception {
        Poll poll = new Poll();
        Voter[] voters = {new Voter(poll), new Voter(poll), new Voter(poll)};
        for (Voter voter : voters) {
            voter.start();
        }
        for (Voter voter : voters) {
            voter.join();
        }
        poll.hurry();
        System.out.println(poll.summary());
    }
}
