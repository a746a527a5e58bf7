/** Two virtual threads count hits in a plain field. */
public class Main {
    static int hits;

    static void hit() {
        hits++;
    }

    public static void main(String[] args) throws Exception {
        Thread one = Thread.ofVirtual().name("one").start(Main::hit);
        Thread two = Thread.startVirtualThread(Main::hit);
        one.join();
        two.join();
        System.out.println(hits > 0 ? "hit" : "missed");
    }
}
