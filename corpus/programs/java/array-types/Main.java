/** Arrays of every element type, filled by three threads that share no index. */
public class Main {
    static final int WORKERS = 3;
    static final boolean[] flags = new boolean[WORKERS];
    static final byte[] bytes = new byte[WORKERS];
    static final char[] chars = new char[WORKERS];
    static final short[] shorts = new short[WORKERS];
    static final int[] ints = new int[WORKERS];
    static final long[] longs = new long[WORKERS];
    static final float[] floats = new float[WORKERS];
    static final double[] doubles = new double[WORKERS];
    static final String[] names = new String[WORKERS];
    static final int[][] rows = new int[WORKERS][2];

    static final class Filler extends Thread {
        private final int slot;

        Filler(int slot) {
            this.slot = slot;
        }

        @Override
        public void run() {
            fill(slot);
        }
    }

    static void fill(int slot) {
        flags[slot] = true;
        bytes[slot] = (byte) (slot + 1);
        bytes[slot] += 1;
        chars[slot] = (char) ('a' + slot);
        shorts[slot] = (short) (100 * slot);
        ints[slot]++;
        longs[slot] = 1L << (32 + slot);
        floats[slot] = slot / 2f;
        doubles[slot] = slot / 4.0;
        names[slot] = "worker " + slot;
        rows[slot][0] = slot;
        rows[slot][1] = -slot;
    }

    public static void main(String[] args) throws Exception {
        Thread[] fillers = new Thread[WORKERS];
        for (int i = 0; i < WORKERS; i++) {
            fillers[i] = new Filler(i);
            fillers[i].start();
        }
        double sum = 0;
        for (int i = 0; i < WORKERS; i++) {
            fillers[i].join();
            sum += (flags[i] ? 1 : 0) + bytes[i] + shorts[i] + ints[i] + floats[i] + doubles[i];
            sum += rows[i][0] + rows[i][1];
        }
        System.out.println(sum + " " + names[0].length() + " " + new String(chars) + " " + (longs[0] != 0));
    }
}
