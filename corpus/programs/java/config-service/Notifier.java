import java.util.concurrent.LinkedBlockingQueue;

/** Hears of every profile that was applied, in a thread of its own. */
final class Notifier {
    private static final String END = "";

    private final LinkedBlockingQueue<String> news = new LinkedBlockingQueue<>();
    private final Thread thread = new Thread(this::listen, "notifier");
    private int heard;

    void start() {
        thread.start();
    }

    void tell(String author) {
        news.add(author);
    }

    private void listen() {
        try {
            for (String author = news.take(); !author.equals(END); author = news.take()) {
                heard++;
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    void close() throws InterruptedException {
        news.add(END);
        thread.join();
    }

    /** After it was closed. */
    int heard() {
        return heard;
    }
}
