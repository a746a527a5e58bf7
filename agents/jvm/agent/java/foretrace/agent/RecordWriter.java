package foretrace.agent;

import static foretrace.agent.Memory.U;

import jdk.internal.vm.annotation.ForceInline;

/**
 * Writes the records of a thread into chunks of the process' file, and gives each its timestamp.
 *
 * A record is written from its last word to its first, which is stored with release: the observer reads up to the first
 * word that is zero. {@link #now} says in the slot ({@code writing}) that a record comes, before its timestamp is
 * chosen: so the observer does not merge past a record that is still being written. The record itself takes that back.
 *
 * No clock is read. A timestamp is later than that of the thread's last record, than that which the hook found in the
 * object (left by the thread that let this one go on), and than the observer's coarse time.
 */
abstract class RecordWriter extends ThreadClock {
    /** No record is longer, but for texts. A full time before it has room, too. */
    private static final int MOST = 8 * 8;
    /** A timestamp is at most this far from the last full time: records have only its lower bits. */
    private static final long MOST_SINCE_FULL_TIME = 1L << 38;

    /** The word {@code writing} of the slot: not 0 while a record is being written. */
    private final long announced;
    /** The number of the chunk + 1 (0: none), where the next record goes, and where the chunk ends. */
    private int chunk;
    private long at, end;
    /** How many chunks the slot has had. */
    private long sequence;
    /** The timestamp of the last record, and the last full time. */
    long time;
    private long lastFullTime;
    /** Records for which there was no room. */
    private long lost;
    /**
     * Counts up when the thread may have learnt of what another did, and when others may learn of what it did. A read
     * that is repeated within a sync-free region needs no record ({@link AccessFilter#isCovered}).
     */
    long syncFreeRegion = 1;

    /** {@code before}: the thread that had the slot before, or null. */
    RecordWriter(int slot, int number, RecordWriter before, int notReady) {
        super(slot, before == null ? 1 : before.generation + 1, number, notReady);
        announced = Memory.SLOTS + slot * Memory.SLOT_SIZE;
        if (before != null) {
            syncIndex = before.syncIndex;
            sequence = before.sequence;
            time = before.time;
        }
    }

    /** Of {@link ThreadState#NONE}, which writes nothing. */
    RecordWriter() {
        super(0, 0, 0, OFF);
        announced = 0;
    }

    /** Whether there is room for a record. If not, the record is lost. */
    @ForceInline
    final boolean room() {
        return end - at >= MOST || refill(MOST);
    }

    private boolean refill(long bytes) {
        chunk = Native.chunk(slot, chunk, sequence);
        if (chunk <= 0) {
            // Without an observer nothing is recorded any more.
            notReady |= chunk < 0 ? OFF : 0;
            updateBlock();
            chunk = 0;
            at = end = 0;
            lost++;
            return false;
        }
        sequence++;
        at = Memory.CHUNKS + (chunk - 1) * Memory.CHUNK_BYTES;
        end = at + Memory.CHUNK_BYTES;
        if (lost > 0) {
            U.putLongRelease(null, at, Record.head(Record.LOST, 0, lost));
            at += 8;
            lost = 0;
        }
        return end - at >= bytes;
    }

    /** Gives the chunk back. */
    final void returnChunk() {
        if (chunk != 0) {
            Native.chunk(-1, chunk, 0);
        }
        chunk = 0;
        at = end = 0;
    }

    /**
     *
     * Begins a record, for which there is room, and returns its timestamp: later than {@code after}. The observer waits
     * for the record from now on.
     */
    @ForceInline
    final long now(long after) {
        U.putLongOpaque(null, announced, time + 1);
        long now = Memory.STEADY
            ? Math.max(Math.max(time, after), U.getLongOpaque(null, Memory.COARSE)) + 1
            : U.getAndAddLong(null, Memory.COUNTER, 1) + 1;
        time = now;
        if (now - lastFullTime >= MOST_SINCE_FULL_TIME) {
            putFullTime(now);
        }
        return now;
    }

    private void putFullTime(long now) {
        lastFullTime = now;
        U.putLong(at + 8, now);
        U.putLongRelease(null, at, Record.head(Record.FULL_TIME, 0, 0));
        at += 16;
    }

    /** Writes a record of two words that other threads may come after, so that the sync-free region ends with it. */
    @ForceInline
    final void put2(long head, long now, int context) {
        putAccess(head, now, context);
        syncFreeRegion++;
    }

    /** Writes a record of two words that orders nothing: a plain access, or a mark. */
    @ForceInline
    final void putAccess(long head, long now, int context) {
        U.putLong(at + 8, now << Record.CONTEXT_BITS | context);
        U.putLongRelease(null, at, head);
        at += 16;
        U.putLongRelease(null, announced, 0);
        nextSyncIndex();
    }

    /** Writes a record of three words that other threads may come after. */
    @ForceInline
    final void put3(long head, long now, int context, long third) {
        U.putLong(at + 16, third);
        U.putLong(at + 8, now << Record.CONTEXT_BITS | context);
        U.putLongRelease(null, at, head);
        at += 24;
        U.putLongRelease(null, announced, 0);
        nextSyncIndex();
        syncFreeRegion++;
    }

    /** Writes a record on behalf of another thread, which deferred or dropped the access. It has no timestamp. */
    final void putForOther(long head, long second, long third) {
        if (room()) {
            U.putLong(at + 16, third);
            U.putLong(at + 8, second);
            U.putLongRelease(null, at, head);
            at += 24;
        }
    }

    /** Writes a value of the next event. */
    final void aside(int of, long value) {
        if (room()) {
            U.putLong(at + 8, value);
            U.putLongRelease(null, at, Record.head(Record.ARGUMENT, of, 0));
            at += 16;
        }
    }

    /** Writes a text: a label for the next record, or what its purpose says. */
    final void text(int purpose, String text) {
        byte[] bytes = text.getBytes(java.nio.charset.StandardCharsets.UTF_8);
        int length = Math.min(bytes.length, 1024), words = (length + 7) >> 3;
        long size = 8 + words * 8L;
        if (end - at < size + MOST && !refill(size + MOST)) {
            return;
        }
        for (int word = 0; word < words; word++) {
            long value = 0;
            for (int i = Math.min(7, length - 1 - word * 8); i >= 0; i--) {
                value = value << 8 | bytes[word * 8 + i] & 0xff;
            }
            U.putLong(at + 8 + word * 8L, value);
        }
        U.putLongRelease(null, at, Record.head(Record.TEXT, purpose, length));
        at += size;
    }

    /** The word for an access that is made now and deferred ({@link DeferredAccess}). */
    @ForceInline
    final long defer(int site) {
        tick++;
        if ((tick & DeferredAccess.SEQUENCE_MASK) == 0) {
            recordMark();
        }
        return tick << DeferredAccess.SITE_BITS | site & DeferredAccess.SITE_MASK;
    }

    /** The sequence numbers of a sync index are used up: a record without a meaning begins the next one. */
    private void recordMark() {
        // The caller counted one too far.
        tick--;
        if (room()) {
            putAccess(Record.head(Record.MARK, 0, 0), now(0), 0);
        }
        tick++;
    }
}
