/** A letter is written, then a volatile flag raised: who sees the flag may read the letter. */
class Mailbox {
    private String letter;
    private long stamp;
    private volatile boolean full;

    void post(String text) {
        letter = text;
        stamp = 1; full = true;
    }

    long fetch() throws InterruptedException {
        while (!full) {
            Thread.sleep(1);
        }
        return letter.length() * 10L + stamp;
    }
}

public class Main {
    static final Mailbox mailbox = new Mailbox();

    static final class Fetcher extends Thread {
        long got;

        @Override
        public void run() {
            try {
                got = mailbox.fetch();
            } catch (InterruptedException e) {
                got = -1;
            }
        }
    }

    public static void main(String[] args) throws Exception {
        Fetcher fetcher = new Fetcher();
        fetcher.start();
        mailbox.post("hello");
        fetcher.join();
        System.out.println(fetcher.got >= 50 ? "read" : "empty");
    }
}
