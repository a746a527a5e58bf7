/** Every thread formats in a scratch pad of its own. */
class Scratch {
    private final char[] text = new char[16];
    private int used;

    void begin() {
        used = 0;
    }

    void add(char letter) {
        text[used++] = letter;
    }

    @Override
    public String toString() {
        return new String(text, 0, used);
    }
}

class Pads {
    private static final ThreadLocal<Scratch> LOCAL = ThreadLocal.withInitial(Scratch::new);
    private static int[] opened = new int[1];

    static Scratch mine() {
        return LOCAL.get();
    }

    static void open(int slot, int[] counts) {
        counts[slot]++;
    }

    static int[] shared() {
        return opened;
    }
}

public class Main {
    static class Writer extends Thread {
        private final char letter;
        private final int[] counts = new int[1];
        String text = "";

        Writer(char letter) {
            this.letter = letter;
        }

        @Override
        public void run() {
            Pads.open(0, counts);
            for (int round = 1; round <= 3; round++) {
                Pads.mine().begin();
                for (int i = 0; i < round; i++) {
                    Pads.mine().add(letter);
                }
                text += Pads.mine();
            }
        }
    }

    public static void main(String[] args) throws Exception {
        Writer one = new Writer('a');
        Writer two = new Writer('b');
        one.start();
        two.start();
        one.join();
        two.join();
        System.out.println(one.text + two.text + Pads.shared().length);
    }
}
