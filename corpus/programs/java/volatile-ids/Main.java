import foretrace.Monitor;

/**
 * A range of numbers is claimed by two volatile writes; volatile makes each of them visible, and not the two together.
 */
class Claim {
    private volatile int from;
    private volatile int to;

    void claim(int first, int last) {
        Monitor.begin("claim");
        from = first;
        to = last;
        Monitor.end("claim");
    }

    boolean empty() {
        return from == 0 || to == 0;
    }
}

class Claimer implements Runnable {
    private final Claim claim;
    private final int first;

    Claimer(Claim claim, int first) {
        this.claim = claim;
        this.first = first;
    }

    @Override
    public void run() {
        claim.claim(first, first + 9);
    }
}

public class Main {
    public static void main(String[] args) throws Exception {
        Claim claim = new Claim();
        Thread one = new Thread(new Claimer(claim, 10));
        Thread two = new Thread(new Claimer(claim, 20));
        one.start();
        two.start();
        one.join();
        two.join();
        System.out.println(claim.empty() ? "free" : "claimed");
    }
}
