/**
 * Counters of all primitive types in static fields, guarded by the lock of their class: by static methods and by a
 * block on the class.
 */
class Census {
    private static boolean open = true;
    private static byte wards;
    private static char initial = 'a';
    private static short streets;
    private static int people;
    private static long steps;
    private static float share;
    private static double area;
    private static String last = "";

    static synchronized void count(int household) {
        people += household;
    }

    static void visit(int ward, String name) {
        synchronized (Census.class) {
            wards = (byte) Math.max(wards, ward);
            initial = (char) Math.max(initial, name.charAt(0));
            streets++;
            steps += 1000L;
            share += 0.5f;
            area += 0.25;
            last = name;
        }
    }

    static synchronized String close() {
        open = false;
        return people + " " + wards + initial + streets + " " + steps
            + " " + share + " " + area + " " + last.length() + open;
    }
}

public class Main {
    static class Clerk extends Thread {
        final int ward;

        Clerk(int ward) {
            this.ward = ward;
        }

        @Override
        public void run() {
            for (int i = 1; i <= 5; i++) {
                Census.count(i);
            }
            Census.visit(ward, "ward " + ward);
        }
    }

    public static void main(String[] args) throws Exception {
        Census.count(1);
        Clerk[] clerks = {new Clerk(1), new Clerk(2), new Clerk(3)};
        for (Clerk clerk : clerks) {
            clerk.start();
        }
        for (Clerk clerk : clerks) {
            clerk.join();
        }
        System.out.println(Census.close());
    }
}
