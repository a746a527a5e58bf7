package foretrace.agent;

/** Calls of java.util.concurrent, by the words of the table (agents/jvm/weave/src/hooks/concurrent.table). */
final class Calls {
    /** The words; {@code calls.rs} numbers them so. */
    private static final int ACQ = 1, REL = 2, TACQ = 3, RACQ = 4, RREL = 5, RTACQ = 6, WAIT = 7, WOKEN = 8, NOTIFY = 9,
        NOTIFYALL = 10, POST = 11, AWAIT = 12, UP = 13, DOWN = 14, JOIN = 15;
    private static final int IF_TRUE = 0x80;
    /** What the objects are. */
    private static final int RWLOCK = 2, SEMAPHORE = 5, LATCH = 6;

    private Calls() {}

    static void before(Object of, int site) {
        Buffer b = of == null ? null : Buffer.attached();
        if (b == null || b.busy || b.isOff) {
            return;
        }
        b.busy = true;
        try {
            int told = (int) Native.told(site, of.getClass());
            tell(b, of, told & 0x7f, site);
        } catch (Throwable failed) {
            Native.failed(failed);
        } finally {
            b.busy = false;
        }
    }

    static void after(Object of, boolean result, int site) {
        Buffer b = of == null ? null : Buffer.attached();
        if (b == null || b.busy || b.isOff) {
            return;
        }
        b.busy = true;
        try {
            int told = (int) Native.told(site, of.getClass()) >> 16;
            if (result || (told & IF_TRUE) == 0) {
                tell(b, of, told & 0x7f, site);
            }
        } catch (Throwable failed) {
            Native.failed(failed);
        } finally {
            b.busy = false;
        }
    }

    private static void tell(Buffer b, Object of, int word, int site) {
        switch (word) {
            case ACQ:
            case TACQ:
                Locks.taken(b, Shadow.of(of, b, site), word == ACQ ? Buffer.ACQUIRE : Buffer.TRY_ACQUIRE, site);
                break;
            case REL:
                Locks.given(b, Shadow.of(of, b, site), Buffer.RELEASE, site);
                break;
            case POST:
                Locks.tellShared(b, Shadow.of(of, b, site), Buffer.POST, LATCH, site);
                break;
            case AWAIT:
                b.epoch++;
                Locks.tellShared(b, Shadow.of(of, b, site), Buffer.AWAIT, LATCH, site);
                break;
            case UP:
                Locks.tellShared(b, Shadow.of(of, b, site), Buffer.UP, SEMAPHORE, site);
                break;
            case DOWN:
                b.epoch++;
                Locks.tellShared(b, Shadow.of(of, b, site), Buffer.DOWN, SEMAPHORE, site);
                break;
            case JOIN:
                Threads.joined((Thread) of, site);
                break;
            default:
                break;
        }
    }
}
