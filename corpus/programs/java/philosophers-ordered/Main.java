import java.util.concurrent.locks.ReentrantLock;

/** Four philosophers with numbered forks, who take the lower number first. */
public class Main {
    static final int SEATS = 4;
    static final ReentrantLock[] forks = new ReentrantLock[SEATS];
    static final int[] uses = new int[SEATS];

    static final class Philosopher extends Thread {
        private final int seat;
        private int meals;

        Philosopher(int seat) {
            this.seat = seat;
        }

        @Override
        public void run() {
            int left = seat;
            int right = (seat + 1) % SEATS;
            boolean swap = left > right;
            for (int i = 0; i < 3; i++) {
                eat(swap ? right : left, swap ? left : right);
            }
        }

        private void eat(int first, int second) {
            forks[first].lock();
            try {
                forks[second].lock();
                try {
                    uses[first]++;
                    uses[second]++;
                    meals++;
                } finally {
                    forks[second].unlock();
                }
            } finally {
                forks[first].unlock();
            }
        }
    }

    public static void main(String[] args) throws Exception {
        for (int i = 0; i < SEATS; i++) {
            forks[i] = new ReentrantLock();
        }
        Philosopher[] table = new Philosopher[SEATS];
        for (int i = 0; i < SEATS; i++) {
            table[i] = new Philosopher(i);
            table[i].start();
            Thread.sleep(60); // even if they forgot the rule, they would not meet
        }
        int meals = 0;
        int used = 0;
        for (int i = 0; i < SEATS; i++) {
            table[i].join();
            meals += table[i].meals;
        }
        for (int i = 0; i < SEATS; i++) {
            used += uses[i];
        }
        System.out.println("meals " + meals + " uses " + used);
    }
}
