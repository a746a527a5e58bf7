/** What a job does. The objects belong to one job, and are used by one worker at a time. */
interface Work {
    int perform() throws WorkFailed;

    /** A failure that may pass. */
    final class WorkFailed extends Exception {
        private static final long serialVersionUID = 1L;

        WorkFailed(String message) {
            super(message);
        }
    }

    final class Sum implements Work {
        private final int to;

        Sum(int to) {
            this.to = to;
        }

        @Override
        public int perform() {
            int sum = 0;
            for (int i = 1; i <= to; i++) {
                sum += i;
            }
            return sum;
        }
    }

    final class Product implements Work {
        private final int[] factors;

        Product(int... factors) {
            this.factors = factors;
        }

        @Override
        public int perform() {
            int product = 1;
            for (int factor : factors) {
                product *= factor;
            }
            return product;
        }
    }

    final class Longest implements Work {
        private final String[] words;

        Longest(String... words) {
            this.words = words;
        }

        @Override
        public int perform() {
            int longest = 0;
            for (String word : words) {
                longest = Math.max(longest, word.length());
            }
            return longest;
        }
    }

    /** Fails a number of times first. The count is plain: the queue carries it from worker to worker. */
    final class Flaky implements Work {
        private final Work work;
        private int failuresLeft;

        Flaky(Work work, int failures) {
            this.work = work;
            this.failuresLeft = failures;
        }

        @Override
        public int perform() throws WorkFailed {
            if (failuresLeft > 0) {
                failuresLeft--;
                throw new WorkFailed("not yet");
            }
            return work.perform();
        }
    }
}
