import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicBoolean;

/**
 * An actor with its mailbox. The flag says whether a run of it is under way or queued; whoever raises it queues one.
 */
final class Cell implements Runnable {
    private static final int BATCH = 4;

    private final ActorSystem system;
    private final Actor actor;
    private final ConcurrentLinkedQueue<Message> mailbox = new ConcurrentLinkedQueue<>();
    private final AtomicBoolean scheduled = new AtomicBoolean();

    Cell(ActorSystem system, Actor actor) {
        this.system = system;
        this.actor = actor;
    }

    void tell(Message message) {
        system.noteMessage();
        system.opened();
        mailbox.add(message);
        schedule();
    }

    private void schedule() {
        if (scheduled.compareAndSet(false, true)) {
            system.execute(this);
        }
    }

    /** A batch, so that no actor keeps a thread for itself. */
    @Override
    public void run() {
        for (int i = 0; i < BATCH; i++) {
            Message message = mailbox.poll();
            if (message == null) {
                break;
            }
            try {
                actor.receive(message);
            } catch (RuntimeException e) {
                actor.failed(e);
            } finally {
                system.closed();
            }
        }
        scheduled.set(false);
        if (!mailbox.isEmpty()) {
            schedule();
        }
    }
}
