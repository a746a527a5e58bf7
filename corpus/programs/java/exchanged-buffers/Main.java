import java.util.concurrent.Exchanger;

/** A filler and a drainer swap a full buffer for an empty one; each touches only what it holds. */
class Buffer {
    private final char[] letters = new char[8];
    private int used;

    void add(char letter) {
        letters[used++] = letter;
    }

    void reset() {
        used = 0;
    }

    int drain() {
        int sum = 0;
        for (int i = 0; i < used; i++) {
            sum += letters[i];
        }
        return sum;
    }
}

public class Main {
    static final Exchanger<Buffer> exchanger = new Exchanger<>();

    static final class Filler extends Thread {
        @Override
        public void run() {
            Buffer mine = new Buffer();
            try {
                for (char letter = 'a'; letter < 'e'; letter++) {
                    mine.add(letter);
                }
                Buffer next = exchanger.exchange(mine);
                next.reset();
            } catch (InterruptedException e) {
                throw new AssertionError(e);
            }
        }
    }

    static final class Drainer extends Thread {
        int sum;

        @Override
        public void run() {
            Buffer mine = new Buffer();
            try {
                mine.add('?');
                mine = exchanger.exchange(mine);
                sum = mine.drain();
            } catch (InterruptedException e) {
                throw new AssertionError(e);
            }
        }
    }

    public static void main(String[] args) throws Exception {
        Filler filler = new Filler();
        Drainer drainer = new Drainer();
        filler.start();
        drainer.start();
        filler.join();
        drainer.join();
        System.out.println("sum " + drainer.sum);
    }
}
