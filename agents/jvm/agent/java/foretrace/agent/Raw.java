package foretrace.agent;

import static foretrace.agent.Memory.U;

import java.nio.ByteBuffer;

/**
 * Atomic accesses of memory that is no variable of the program, by a VarHandle: of buffers, and of segments. Who loads comes after all who have stored there. Places are told apart by
 * what is left of their hash; of segments, which may be parts of one another, none are.
 */
final class Raw {
    private static final Object MEMORY = new Object[Entries.COUNT];
    private static final String SEGMENTS = "jdk.internal.foreign";
    private static final long ADDRESS = U.objectFieldOffset(java.nio.Buffer.class, "address"), ARRAY = U.objectFieldOffset(ByteBuffer.class, "hb");

    private Raw() {}

    /** Whether it is such memory. */
    static boolean is(Object of) {
        return of instanceof ByteBuffer || of != null && of.getClass().getPackageName().equals(SEGMENTS);
    }

    private static int entry(Call call) {
        if (!(call.argument instanceof ByteBuffer)) {
            return Entries.WHOLE;
        }
        ByteBuffer buffer = (ByteBuffer) call.argument;
        // What is of two sizes at one place is the same.
        long address = (U.getLong(buffer, ADDRESS) + call.index) >>> 3;
        // One that can only be read does not say that it has an array.
        return Entries.of((int) (address ^ address >>> 32) + System.identityHashCode(Memory.reference(buffer, ARRAY)));
    }

    /** It comes: what it stores is seen by who loads it later. */
    static void before(Buffer b, long told, Call call, int site) {
        int order = Told.order(told);
        if (Told.word(told) != Told.LOAD && order != Told.RELAXED && order != Told.ACQUIRE) {
            Entries.post(b, Shadows.of(MEMORY, b, site).whole(), entry(call), site);
        }
    }

    /** It was made. */
    static void after(Buffer b, long told, Call call, int site) {
        int order = Told.order(told);
        if (Told.word(told) != Told.STORE && order != Told.RELAXED && order != Told.RELEASE) {
            Entries.await(b, Shadows.of(MEMORY, b, site).whole(), entry(call), site);
        }
    }
}
