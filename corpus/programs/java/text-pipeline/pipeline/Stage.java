package pipeline;

/** A thread between two channels. */
abstract class Stage<I, O> extends Thread {
    protected final Channel<I> input;
    protected final Channel<O> output;
    private int received;

    Stage(String name, Channel<I> input, Channel<O> output) {
        super(name);
        this.input = input;
        this.output = output;
    }

    @Override
    public void run() {
        try {
            for (I item = input.receive(); item != null; item = input.receive()) {
                received++;
                process(item);
            }
            if (output != null) {
                output.close();
            }
            finish();
        } catch (InterruptedException e) {
            interrupt();
        }
    }

    protected abstract void process(I item) throws InterruptedException;

    /** The last thing a stage does. */
    protected void finish() {
    }

    int received() {
        return received;
    }
}
