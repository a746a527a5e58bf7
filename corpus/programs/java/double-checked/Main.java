/**
 * Double-checked locking without volatile: the first look is in no order with the write. What is published is
 * immutable.
 */
class Settings {
    private static Settings instance;
    private final int size;

    private Settings(int size) {
        this.size = size;
    }

    static Settings get() {
        Settings known = instance;
        if (known == null) {
            synchronized (Settings.class) {
                known = instance;
                if (known == null) {
                    known = new Settings(8);
                    instance = known;
                }
            }
        }
        return known;
    }

    int size() {
        return size;
    }
}

public class Main {
    static class User implements Runnable {
        int size;

        @Override
        public void run() {
            size = Settings.get().size();
        }
    }

    public static void main(String[] args) throws Exception {
        User one = new User();
        User two = new User();
        Thread first = new Thread(one);
        Thread second = new Thread(two);
        first.start();
        second.start();
        first.join();
        second.join();
        System.out.println("sizes " + one.size + " " + two.size);
    }
}
