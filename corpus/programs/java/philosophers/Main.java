/**
 * Three philosophers who all reach to their left first; they come to table one after another, so nobody starves today.
 */
public class Main {
    static class Fork {
        int uses;
    }

    static class Philosopher implements Runnable {
        private final Fork left;
        private final Fork right;
        int meals;

        Philosopher(Fork left, Fork right) {
            this.left = left;
            this.right = right;
        }

        @Override
        public void run() {
            for (int i = 0; i < 3; i++) {
                eat();
            }
        }

        void eat() {
            synchronized (left) {
                synchronized (right) {
                    left.uses++;
                    right.uses++;
                    meals++;
                }
            }
        }
    }

    public static void main(String[] args) throws Exception {
        Fork[] forks = {new Fork(), new Fork(), new Fork()};
        Philosopher[] table = new Philosopher[forks.length];
        Thread[] threads = new Thread[forks.length];
        for (int i = 0; i < table.length; i++) {
            table[i] = new Philosopher(forks[i], forks[(i + 1) % forks.length]);
            threads[i] = new Thread(table[i], "philosopher " + i);
            threads[i].start();
            Thread.sleep(30);
        }
        int meals = 0;
        int uses = 0;
        for (int i = 0; i < table.length; i++) {
            threads[i].join();
            meals += table[i].meals;
        }
        for (Fork fork : forks) {
            uses += fork.uses;
        }
        System.out.println("meals " + meals + " uses " + uses);
    }
}
