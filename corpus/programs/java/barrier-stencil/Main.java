import java.util.concurrent.BrokenBarrierException;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.CyclicBarrier;

/** Each thread owns a cell of a ring and needs those of its neighbours: read all, barrier, write own, barrier. */
class Stencil {
    private final int[] cells;
    private final CyclicBarrier barrier;
    private int generation;

    Stencil(int size) {
        cells = new int[size];
        for (int i = 0; i < size; i++) {
            cells[i] = i;
        }
        barrier = new CyclicBarrier(size, this::nextGeneration);
    }

    /** Runs in the thread that comes last, between the writes of one round and the reads of the next. */
    private void nextGeneration() {
        generation++;
    }

    void step(int mine) throws InterruptedException, BrokenBarrierException {
        int size = cells.length;
        int sum = cells[(mine + size - 1) % size] + cells[mine] + cells[(mine + 1) % size];
        barrier.await(); // nobody writes before all have read
        cells[mine] = sum;
        barrier.await();
    }

    int size() {
        return cells.length;
    }

    String summary() {
        int sum = 0;
        for (int cell : cells) {
            sum += cell;
        }
        return "generation " + generation + " sum " + sum;
    }
}

public class Main {
    static class Walker extends Thread {
        private final Stencil stencil;
        private final int mine;
        private final CountDownLatch start;
        private final CountDownLatch done;

        Walker(Stencil stencil, int mine, CountDownLatch start, CountDownLatch done) {
            this.stencil = stencil;
            this.mine = mine;
            this.start = start;
            this.done = done;
        }

        @Override
        public void run() {
            try {
                start.await();
                for (int round = 0; round < 3; round++) {
                    stencil.step(mine);
                }
            } catch (InterruptedException | BrokenBarrierException e) {
                throw new AssertionError(e);
            }
            done.countDown();
        }
    }

    public static void main(String[] args) throws Exception {
        int size = Integer.parseInt(args[0]);
        Stencil stencil = new Stencil(size);
        CountDownLatch start = new CountDownLatch(1);
        CountDownLatch done = new CountDownLatch(size);
        for (int i = 0; i < size; i++) {
            new Walker(stencil, i, start, done).start();
        }
        start.countDown();
        done.await();
        System.out.println(stencil.summary());
    }
}
