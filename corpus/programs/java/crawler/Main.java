import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;

/** Crawls a small web that exists in memory only, by three workers of a pool. */
public class Main {
    private static final int WORKERS = 3;

    public static void main(String[] args) throws Exception {
        Web web = new Web()
            .page("/", "welcome to the garden", "/roses", "/tools", "/about")
            .page("/roses", "roses need sun and water", "/roses/red", "/roses/white", "/")
            .page("/roses/red", "red roses are common", "/roses", "/tools/shears")
            .page("/roses/white", "white roses are rare", "/roses", "/lost")
            .page("/tools", "tools for the garden", "/tools/shears", "/tools/spade")
            .page("/tools/shears", "shears cut roses", "/roses")
            .page("/tools/spade", "a spade is a spade", "/tools")
            .page("/about", "a garden in memory", "/", "/private/diary");
        Frontier frontier = new Frontier();
        Index index = new Index();
        Census census = new Census(WORKERS);
        frontier.discover(new Link("/", 0));
        ExecutorService pool = Executors.newFixedThreadPool(WORKERS);
        for (int i = 0; i < WORKERS; i++) {
            pool.execute(new Worker(i, web, frontier, index, census));
        }
        frontier.awaitEnd();
        pool.shutdown();
        boolean ended = pool.awaitTermination(5, TimeUnit.SECONDS);
        System.out.println("pages " + index.pages() + " lost " + index.lost()
            + " links " + index.links() + (ended ? "" : " still running"));
        System.out.println("roses on " + index.count("roses") + " pages" + (census.started() > 0 ? "" : ", by nobody"));
    }
}
