/** The class-holder idiom: the initialiser of a class publishes what it built to whoever uses the class. */
class Primes {
    private static Primes lazy;
    private final int[] table;
    private final int limit;

    private Primes(int limit) {
        this.limit = limit;
        int[] found = new int[limit];
        int count = 0;
        for (int n = 2; n < limit; n++) {
            boolean prime = true;
            for (int i = 0; i < count; i++) {
                prime &= n % found[i] != 0;
            }
            if (prime) {
                found[count++] = n;
            }
        }
        this.table = java.util.Arrays.copyOf(found, count);
    }

    private static final class Holder {
        static int uses;
        static final Primes INSTANCE;

        static {
            uses = 1;
            INSTANCE = new Primes(40);
        }
    }

    static Primes get() {
        return Holder.INSTANCE;
    }

    static Primes late() {
        Primes known = lazy;
        if (known == null) {
            known = new Primes(40);
            lazy = known;
        }
        return known;
    }

    static int uses() {
        return Holder.uses;
    }

    int sum() {
        int sum = 0;
        for (int prime : table) {
            sum += prime;
        }
        return sum + limit - limit;
    }
}

public class Main {
    static final class Adder extends Thread {
        int sum;

        @Override
        public void run() {
            sum = Primes.get().sum();
        }
    }

    public static void main(String[] args) throws Exception {
        Adder one = new Adder();
        Adder two = new Adder();
        one.start();
        two.start();
        one.join();
        two.join();
        System.out.println(one.sum + " " + two.sum + " " + Primes.uses());
    }
}
