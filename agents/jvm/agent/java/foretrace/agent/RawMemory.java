package foretrace.agent;

import static foretrace.agent.Memory.U;

import java.nio.ByteBuffer;

/**
 * Atomic accesses of memory that is no variable of the program, by a VarHandle: of buffers, and of segments. Who loads comes after all who have stored there. CallContexts are told apart by
 * what is left of their hash; of segments, which may be parts of one another, none are.
 */
final class RawMemory {
    private static final Object MEMORY = new Object[EntrySync.COUNT];
    private static final String SEGMENTS = "jdk.internal.foreign";
    private static final long ADDRESS = U.objectFieldOffset(java.nio.Buffer.class, "address"), ARRAY = U.objectFieldOffset(ByteBuffer.class, "hb");

    private RawMemory() {}

    /** Whether it is such memory. */
    static boolean is(Object of) {
        return of instanceof ByteBuffer || of != null && of.getClass().getPackageName().equals(SEGMENTS);
    }

    private static int entry(Call call) {
        if (!(call.argument instanceof ByteBuffer)) {
            return EntrySync.WHOLE;
        }
        ByteBuffer buffer = (ByteBuffer) call.argument;
        // What is of two sizes at one place is the same.
        long address = (U.getLong(buffer, ADDRESS) + call.index) >>> 3;
        // One that can only be read does not say that it has an array.
        return EntrySync.of((int) (address ^ address >>> 32) + System.identityHashCode(Memory.reference(buffer, ARRAY)));
    }

    /** It comes: what it stores is seen by who loads it later. */
    static void before(ThreadState self, long effect, Call call, int site) {
        int order = Effect.order(effect);
        if (Effect.kind(effect) != Effect.LOAD && order != Effect.RELAXED && order != Effect.ACQUIRE) {
            EntrySync.post(self, Shadows.of(MEMORY, self, site).whole(), entry(call), site);
        }
    }

    /** It was made. */
    static void after(ThreadState self, long effect, Call call, int site) {
        int order = Effect.order(effect);
        if (Effect.kind(effect) != Effect.STORE && order != Effect.RELAXED && order != Effect.RELEASE) {
            EntrySync.await(self, Shadows.of(MEMORY, self, site).whole(), entry(call), site);
        }
    }
}
