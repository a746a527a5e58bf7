/**
 * Goods move between two shelves in both directions; the shelves are locked in opposite orders, but only by who holds
 * the gate.
 */
class Shelf {
    int goods;

    Shelf(int goods) {
        this.goods = goods;
    }
}

class Store {
    private final Object gate = new Object();
    private final Object office = new Object();
    private final Shelf left = new Shelf(50);
    private final Shelf right = new Shelf(50);
    private int slips;

    void moveRight(int goods) {
        synchronized (gate) {
            synchronized (left) {
                synchronized (right) {
                    left.goods -= goods;
                    right.goods += goods;
                }
            }
        }
        slip();
    }

    void moveLeft(int goods) {
        Object way = gate;
        synchronized (way) {
            synchronized (right) {
                synchronized (left) {
                    right.goods -= goods;
                    left.goods += goods;
                }
            }
        }
        slip();
    }

    private void slip() {
        synchronized (office) {
            slips++;
        }
    }

    String summary() {
        return "left " + left.goods + " right " + right.goods + " slips " + slips;
    }
}

public class Main {
    static final Store store = new Store();

    static void load() {
        for (int i = 1; i <= 3; i++) {
            store.moveRight(i);
        }
    }

    static void unload() {
        for (int i = 1; i <= 3; i++) {
            store.moveLeft(i + 1);
        }
    }

    public static void main(String[] args) throws Exception {
        Thread loader = new Thread(Main::load);
        Thread unloader = new Thread(Main::unload);
        loader.start();
        Thread.sleep(40); // two shifts: without the gate the program would still end
        unloader.start();
        loader.join();
        unloader.join();
        System.out.println(store.summary());
    }
}
