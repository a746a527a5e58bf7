import java.util.HashMap;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.Map;

/** One thread sells the stock and removes orders by iterators while another reads both maps; nothing synchronises. */
public class Main {
    private final Map<String, Integer> stock = new HashMap<>();
    private final Map<String, String> orders = new LinkedHashMap<>();
    /** Only one thread uses this. */
    private final Map<String, Integer> sold = new HashMap<>();

    void sell() {
        for (Iterator<Map.Entry<String, Integer>> all = stock.entrySet().iterator(); all.hasNext(); ) {
            sold.merge(all.next().getKey(), 1, Integer::sum);
            all.remove();
        }
        Iterator<String> customers = orders.keySet().iterator();
        customers.next();
        customers.remove();
        for (Map.Entry<String, Integer> one : sold.entrySet()) {
            one.setValue(0);
        }
    }

    int look() {
        return stock.getOrDefault("apples", 0) + (orders.get("Ada") == null ? 0 : 1);
    }

    public static void main(String[] args) throws InterruptedException {
        Main shop = new Main();
        shop.stock.put("apples", 7);
        shop.orders.put("Ada", "apples");
        Thread seller = new Thread(shop::sell), watcher = new Thread(shop::look);
        seller.start();
        watcher.start();
        seller.join();
        watcher.join();
        for (Map.Entry<String, Integer> one : shop.stock.entrySet()) {
            one.setValue(0);
        }
    }
}
