// Two customers take what a baker puts into a window with room for one loaf.
public class Main {
    static class Window {
        private boolean full;
        private int sold;

        synchronized void take() throws InterruptedException {
            while (!full) {
                wait();
            }
            full = false;
            sold++;
        }

        synchronized boolean put() {
            full = true;
            notify();
            return sold < 6;
        }
    }

    public static void main(String[] args) throws InterruptedException {
        Window window = new Window();
        Runnable customer = () -> {
            try {
                for (int i = 0; i < 3; i++) {
                    window.take();
                }
            } catch (InterruptedException e) {
                throw new IllegalStateException(e);
            }
        };
        Thread one = new Thread(customer);
        Thread other = new Thread(customer);
        one.start();
        other.start();
        do {
            Thread.sleep(10); // the customers wait by now
        } while (window.put());
        one.join();
        other.join();
        System.out.println("all is sold");
    }
}
