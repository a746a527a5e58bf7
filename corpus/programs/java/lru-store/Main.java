import java.util.ArrayList;
import java.util.List;

/** Fills a store from two loaders, then lets three clients read it, then trims it. */
public class Main {
    static final class Loader extends Thread {
        private final Store store;
        private final String prefix;

        Loader(Store store, String prefix) {
            this.store = store;
            this.prefix = prefix;
        }

        @Override
        public void run() {
            for (int i = 0; i < 8; i++) {
                store.put(prefix + i, prefix.length() * 100 + i);
            }
        }
    }

    static final class Client extends Thread {
        private final Store store;
        private final String[] keys;
        private int found;
        private int missed;

        Client(Store store, String... keys) {
            this.store = store;
            this.keys = keys;
        }

        @Override
        public void run() {
            for (String key : keys) {
                if (store.get(key) >= 0) {
                    found++;
                } else {
                    missed++;
                }
            }
        }

        String summary() {
            return found + "/" + missed;
        }
    }

    public static void main(String[] args) throws Exception {
        Store store = new Store(16, new Trim.OldestFirst());
        Thread[] loaders = {new Loader(store, "page"), new Loader(store, "img")};
        for (Thread loader : loaders) {
            loader.start();
        }
        for (Thread loader : loaders) {
            loader.join();
        }
        int before = store.size();
        Client[] clients = {
            new Client(store, "img1", "page0", "nothing"),
            new Client(store, "img1", "page3", "page4"),
            new Client(store, "img2", "img1"),
        };
        for (Client client : clients) {
            client.start();
        }
        List<String> summaries = new ArrayList<>();
        for (Client client : clients) {
            client.join();
            summaries.add(client.summary());
        }
        store.trim(4);
        System.out.println("before " + before + " after " + store.size() + " clients " + String.join(" ", summaries));
        System.out.println("img1 is " + (store.get("img1") >= 0 ? "kept" : "gone"));
    }
}
