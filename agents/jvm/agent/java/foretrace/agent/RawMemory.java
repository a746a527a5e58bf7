package foretrace.agent;

import static foretrace.agent.Memory.U;

import java.nio.ByteBuffer;

/**
 * Atomic accesses through a {@code VarHandle} of memory that is no variable of the program: buffers and memory
 * segments. A load happens after all stores to the same entry before it. Addresses in buffers are distinguished by a
 * hash; segments, which may overlap, are one entry.
 */
final class RawMemory {
    private static final Object MEMORY = new Object[EntrySync.COUNT];
    private static final String SEGMENTS = "jdk.internal.foreign";
    private static final long ADDRESS = U.objectFieldOffset(java.nio.Buffer.class, "address");
    private static final long ARRAY = U.objectFieldOffset(ByteBuffer.class, "hb");

    private RawMemory() {}

    /** Whether an object is such memory. */
    static boolean is(Object of) {
        return of instanceof ByteBuffer || of != null && of.getClass().getPackageName().equals(SEGMENTS);
    }

    private static int entry(Call call) {
        if (!(call.argument instanceof ByteBuffer)) {
            return EntrySync.WHOLE;
        }
        ByteBuffer buffer = (ByteBuffer) call.argument;
        // Accesses of different sizes within eight bytes are one.
        long address = (U.getLong(buffer, ADDRESS) + call.index) >>> 3;
        // A read-only buffer hides its array.
        int array = System.identityHashCode(Memory.reference(buffer, ARRAY));
        return EntrySync.entryOf((int) (address ^ address >>> 32) + array);
    }

    /** An access is about to be made: posts what a later load may see. */
    static void before(ThreadState self, long effect, Call call, int site) {
        int order = Effect.order(effect);
        if (Effect.kind(effect) != Effect.LOAD && order != Effect.RELAXED && order != Effect.ACQUIRE) {
            EntrySync.post(self, Shadows.of(MEMORY, self, site).whole(), entry(call), site);
        }
    }

    /** An access was made: awaits what it may have seen. */
    static void after(ThreadState self, long effect, Call call, int site) {
        int order = Effect.order(effect);
        if (Effect.kind(effect) != Effect.STORE && order != Effect.RELAXED && order != Effect.RELEASE) {
            EntrySync.await(self, Shadows.of(MEMORY, self, site).whole(), entry(call), site);
        }
    }
}
