import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;

/** Pages are loaded, counted and put together in stages; each stage may read what the one before wrote. */
class Page {
    private final String text;
    private int words;

    Page(String text) {
        this.text = text;
    }

    Page load() {
        words = text.split(" ").length;
        return this;
    }

    int words() {
        return words;
    }
}

public class Main {
    static int shelf;

    static void shelve(int words) {
        shelf = words;
    }

    public static void main(String[] args) throws Exception {
        ExecutorService pool = Executors.newFixedThreadPool(3);
        Page cover = new Page("the cover");
        CompletableFuture<Page> loaded = CompletableFuture.supplyAsync(cover::load, pool);
        loaded.join(); // before anybody looks at it
        int seen = cover.words();
        Page one = new Page("a small page");
        Page two = new Page("another page of some words");
        CompletableFuture<Integer> first = CompletableFuture.supplyAsync(one::load, pool).thenApply(Page::words);
        CompletableFuture<Integer> second =
            CompletableFuture.supplyAsync(two::load, pool).thenApplyAsync(Page::words, pool);
        CompletableFuture<Void> both = first.thenCombine(second, Integer::sum).thenAccept(Main::shelve);
        CompletableFuture<Integer> failing =
            CompletableFuture.<Integer>supplyAsync(Main::fail, pool).exceptionally(e -> -1);
        CompletableFuture<Void> blank = new CompletableFuture<>();
        pool.execute(() -> blank.complete(null));
        CompletableFuture.allOf(loaded, both, failing, blank).get(5, TimeUnit.SECONDS);
        pool.shutdown();
        pool.awaitTermination(5, TimeUnit.SECONDS);
        System.out.println("shelf " + shelf + (seen >= 0 ? "" : "?") + " " + failing.join());
    }

    static int fail() {
        throw new IllegalStateException("no such page");
    }
}
