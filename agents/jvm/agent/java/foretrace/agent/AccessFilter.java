package foretrace.agent;

import static foretrace.agent.Memory.U;

import jdk.internal.vm.annotation.ForceInline;

/**
 *
 * Decides which accesses become records ({@link Cells} draws the words it reads; docs/java.md has the argument).
 *
 * <ul>
 * <li>As long as one thread owns a variable, its accesses are deferred: W and R keep the last write and read.
 * <li>Another thread's access makes the variable shared: the deferred accesses are recorded, and what they replaced
 * becomes a drop barrier.
 * <li>Of a shared variable, a read is recorded once per version and sync-free region, a write unless it repeats the
 * last one.
 * <li>After {@link #RUN} records in a row of one thread, that thread owns the variable again.
 * </ul>
 *
 * The cell of a plain variable has no lock: each word says by itself what it is. Threads change a word at one moment
 * only if their accesses race, or both read. Then the thread that comes second records its access twice, or later.
 *
 * Parameters that many methods share: {@code of} is the object with the cell (null: a static field) and {@code w},
 * {@code r}, {@code d} are the offsets of its words; {@code address} is the variable's address in records; {@code
 * base} and {@code shift} say that 2^shift elements from base on share cells; {@code object} is the object that has
 * the variable; null: it is not asked whether that came from unwatched memory ({@link Shadow#cameUnwatched}).
 */
final class AccessFilter {
    /** Reads that a thread remembers. */
    static final int READ_CACHE = 1 << 10;
    /** How often a thread tries to take a variable from its owner. */
    private static final int TRIES = 16;
    /** Records in a row after which a thread owns a shared variable again. */
    private static final long RUN = 16;
    /** What a thread owns after a run. */
    private static final int NONE = 0, READS = 1, ALL = 2;

    private AccessFilter() {}

    /** A read, which has been made, of a variable that the thread may own. Returns whether nothing is left to do. */
    @ForceInline
    static boolean fastRead(ThreadState self, Object of, long r, long d, int site) {
        // The program's read comes before this look at the cell.
        U.loadFence();
        long last = U.getLong(of, r);
        if (last >>> DeferredAccess.BLOCK_SHIFT != self.block) {
            return false;
        }
        if (self.isAtOtherSyncIndex(last)) {
            drop(of, d, last, 0);
        }
        U.putLong(of, r, self.defer(site));
        return true;
    }

    /**
     * A write, which is about to be made, of a variable that the thread may own. Returns whether nothing is left to
     * do.
     */
    @ForceInline
    static boolean fastWrite(ThreadState self, Object of, long w, long d, int site) {
        long last = U.getLong(of, w);
        // The first write after reads takes the slow path, which looks at the calls that led there.
        if (last >>> DeferredAccess.BLOCK_SHIFT != self.block || (last & DeferredAccess.SITE_MASK) == 0) {
            return false;
        }
        if (self.isAtOtherSyncIndex(last)) {
            drop(of, d, last, Cells.DROPPED_WRITE);
        }
        U.putLong(of, w, self.defer(site));
        return true;
    }

    /**
     * Notes in D an access that is replaced. If writes were replaced, D is at the last of these: reads that come after
     * them must not make it look as if something was written there.
     */
    private static void drop(Object of, long d, long last, long write) {
        // Without a site it is recorded already.
        if ((last & DeferredAccess.SITE_MASK) == 0) {
            return;
        }
        long was = U.getLong(of, d), now = last & ~DeferredAccess.SITE_MASK;
        if (!Cells.isDeferred(was)) {
            put(of, d, was, now, 0, write);
        } else if (write != 0) {
            long read = (was & Cells.DROPPED_WRITE) == 0 ? Cells.DROPPED_READ : 0;
            put(of, d, was, now, Cells.DROPPED_READ, Cells.DROPPED_WRITE | read);
        } else if ((was & Cells.DROPPED_WRITE) == 0) {
            put(of, d, was, now, 0, 0);
        } else if ((was & Cells.DROPPED_READ) == 0) {
            put(of, d, was, was & ~DeferredAccess.SITE_MASK, Cells.DROPPED_WRITE, Cells.DROPPED_READ);
        }
    }

    /** Notes in D an access that is never recorded, because a class is being initialised. */
    private static void dropInitialising(ThreadState self, Object of, long d, long write) {
        long now = self.defer(1) & ~DeferredAccess.SITE_MASK;
        put(of, d, U.getLong(of, d), now, Cells.DROPPED_WRITE | Cells.DROPPED_READ, write);
    }

    /**
     *
     * Changes D: the bits {@code stays} of the old word stay, {@code more} are added. A {@link VariableLock} that is
     * taken at this very moment may get lost, but never stays for ever.
     */
    private static void put(Object of, long d, long was, long now, long stays, long more) {
        if ((was & Cells.LOCK) == 0) {
            U.putLong(of, d, now | was & stays | more);
            return;
        }
        while (!U.compareAndSetLong(of, d, was, now | was & (stays | Cells.LOCK) | more)) {
            was = U.getLong(of, d);
        }
    }

    /** Whether a variable with this word is the thread's own, or has no owner yet. */
    private static boolean isOwn(ThreadState self, long word) {
        return word == 0 || Cells.isDeferred(word) && self.isOwn(word);
    }

    /** Defers a read if the thread owns the variable. Returns whether it did, or whether no record is wanted. */
    static boolean deferRead(ThreadState self, Object of, long w, long r, long d, int site) {
        if (self.isOptimistic) {
            return true;
        }
        long write = U.getLong(of, w), read = U.getLong(of, r);
        if (!isOwn(self, write) || !isOwn(self, read)) {
            return false;
        }
        if (self.initialising > 0) {
            if (!self.recordsAll) {
                dropInitialising(self, of, d, 0);
            }
            return true;
        }
        if (self.recordsAll) {
            return false;
        }
        boolean isWalked = self.contexts.note(site);
        // Of several threads that come first, the one that sets W owns the variable, even if nothing was written.
        if (write == 0 && !U.compareAndSetLong(of, w, 0, self.defer(0))) {
            return false;
        }
        // Another thread may have come meanwhile.
        long now = self.defer(site);
        if (!U.compareAndSetLong(of, r, read, now)) {
            return false;
        }
        if (isWalked) {
            self.contexts.walkedAt(now);
        }
        if (read != 0 && self.isAtOtherSyncIndex(read)) {
            drop(of, d, read, 0);
        }
        return true;
    }

    /** Defers a write if the thread owns the variable. Returns whether it did. */
    static boolean deferWrite(ThreadState self, Object of, long w, long r, long d, int site) {
        long write = U.getLong(of, w), read = U.getLong(of, r);
        if (!isOwn(self, write) || !isOwn(self, read)) {
            return false;
        }
        if (self.initialising > 0) {
            if (!self.recordsAll) {
                dropInitialising(self, of, d, Cells.DROPPED_WRITE);
            }
            return true;
        }
        if (self.recordsAll) {
            return false;
        }
        boolean isWalked = self.contexts.note(site);
        long now = self.defer(site);
        if (!U.compareAndSetLong(of, w, write, now)) {
            return false;
        }
        if (isWalked) {
            self.contexts.walkedAt(now);
        }
        if (write != 0 && self.isAtOtherSyncIndex(write)) {
            drop(of, d, write, Cells.DROPPED_WRITE);
        }
        return true;
    }

    /** Makes a variable shared: records what was deferred or dropped of it. */
    static void share(
        ThreadState self, Object of, long w, long r, long d, long address, long base, int shift, Object object) {
        long write = 0, read = 0;
        // The owner may change the words meanwhile.
        for (int i = 0; i < TRIES; i++) {
            write = U.getLong(of, w);
            read = U.getLong(of, r);
            if (!Cells.isDeferred(write) && write != 0) {
                // Another thread has shared it; only a read may be left.
                write = 0;
                break;
            }
            long version = Cells.UNKNOWN_WRITER << Cells.VERSION_TIME_BITS | self.time & Cells.VERSION_TIME;
            if (U.compareAndSetLong(of, w, write, version)) {
                break;
            }
            write = 0;
        }
        long lastRead = read;
        if (!Cells.isDeferred(read) || !U.compareAndSetLong(of, r, read, 0)) {
            read = 0;
        }
        if (write == 0 && read == 0) {
            return;
        }
        long was = U.getLong(of, d), dropped = Cells.isDeferred(was) ? was : 0;
        advancePast(self, write);
        advancePast(self, read);
        advancePast(self, dropped);
        while (dropped != 0 && !U.compareAndSetLong(of, d, was, was & Cells.LOCK)) {
            was = U.getLong(of, d);
        }
        boolean hasDeferred = Cells.isDeferred(write) || Cells.isDeferred(read);
        if (shift > 0 || object != null && hasDeferred && Shadow.cameUnwatched(self, object)) {
            long first = base + (address - base >>> 3 >>> shift << shift << 3);
            write = Cells.isDeferred(write) ? write : 0;
            read = Cells.isDeferred(read) ? read : 0;
            recordBarriers(self, first, shift, dropped, write, read);
            return;
        }
        if (dropped != 0) {
            boolean isWrite = (dropped & Cells.DROPPED_WRITE) != 0;
            recordForOwner(self, Record.DROP_BARRIER, address, dropped, isWrite);
            if (isWrite && (dropped & Cells.DROPPED_READ) != 0 && Cells.isDeferred(lastRead)) {
                recordReadBarrier(self, address, lastRead);
            }
        }
        if (Cells.isDeferred(write) && !isRecorded(write)) {
            recordForOwner(self, Record.DEFERRED, address, write, true);
        }
        if (Cells.isDeferred(read) && !isRecorded(read)) {
            recordForOwner(self, Record.DEFERRED, address, read, false);
        }
    }

    /** A deferred access comes before what this thread records next. */
    private static void advancePast(ThreadState self, long word) {
        if (Cells.isDeferred(word)) {
            self.advancePast(DeferredAccess.slot(word));
        }
    }

    /** Whether a word only says whose the variable is: the access is recorded already. */
    private static boolean isRecorded(long deferred) {
        return (deferred & DeferredAccess.SITE_MASK) == 0;
    }

    /**
     *
     * Counts records in a row of one thread, and says what of the variable becomes that thread's own. So a variable
     * that is handed on, and then used by one thread alone, is not recorded for ever. The first accesses of the run
     * are recorded, and with them the races with what was before. Only a write races with what others have read: a
     * thread that has only read gets only the reads.
     */
    private static int countRun(ThreadState self, Object of, long d, boolean isWrite) {
        long was = U.getLong(of, d);
        if (Cells.isDeferred(was) || self.recordsAll) {
            return NONE;
        }
        boolean isNext = was >>> Cells.RUN_THREAD_SHIFT == Cells.writer(self);
        long count = isNext ? (was >>> Cells.RUN_SHIFT & (1L << Cells.RUN_BITS) - 1) + 1 : 1;
        long write = isWrite ? Cells.RUN_WRITE : isNext ? was & Cells.RUN_WRITE : 0;
        long run = Cells.writer(self) << Cells.RUN_THREAD_SHIFT | count << Cells.RUN_SHIFT | write;
        put(of, d, was, count < RUN ? run : 0, Cells.RUN_WRITE - 1 & ~Cells.LOCK, 0);
        return count < RUN ? NONE : write == 0 ? READS : ALL;
    }

    /**
     * Elements that share a cell: which of them was accessed is not known, so all get a drop barrier at the last
     * access.
     */
    private static void recordBarriers(
        ThreadState self, long first, int shift, long dropped, long write, long read) {
        long last = later(later(dropped, write), read);
        boolean isWrite = write != 0 || (dropped & Cells.DROPPED_WRITE) != 0;
        for (long at = first; last != 0 && at < first + (8L << shift); at += 8) {
            recordForOwner(self, Record.DROP_BARRIER, at, last, isWrite);
        }
    }

    private static long later(long one, long other) {
        return Long.compareUnsigned(one, other) < 0 ? other : one;
    }

    /** Writes the record of an access that the variable's owner deferred or dropped. */
    private static void recordForOwner(ThreadState self, int kind, long address, long deferred, boolean isWrite) {
        int slot = DeferredAccess.slot(deferred);
        int context = kind == Record.DROP_BARRIER ? 0 : ThreadState.contextOf(slot, deferred);
        long third = slot | (isWrite ? 1L << 32 : 0) | DeferredAccess.sequence(deferred) << 34;
        long second = DeferredAccess.syncIndex(deferred) << Record.CONTEXT_BITS | context;
        self.putForOther(Record.head(kind, 0xff, address), second, third);
    }

    /**
     * Writes the drop barrier of reads of which only this is known: they had an earlier sync index than the last read,
     * which replaced them.
     */
    private static void recordReadBarrier(ThreadState self, long address, long lastRead) {
        int slot = DeferredAccess.slot(lastRead);
        long third = slot | DeferredAccess.SEQUENCE_MASK << 34;
        long second = Math.max(0, DeferredAccess.syncIndex(lastRead) - 1) << Record.CONTEXT_BITS;
        self.putForOther(Record.head(Record.DROP_BARRIER, 0xff, address), second, third);
    }

    private static long key(long address, long write, long syncFreeRegion) {
        return address * 0x9e3779b97f4a7c15L ^ write * 0xbf58476d1ce4e5b9L ^ syncFreeRegion * 0x94d049bb133111ebL | 1;
    }

    /** Whether a read of a shared variable repeats one of the same version in the same sync-free region. */
    @ForceInline
    static boolean isCovered(ThreadState self, Object of, long w, long address) {
        long write = U.getLong(of, w);
        return !Cells.isDeferred(write)
            && self.readCache[cacheSlot(address)] == key(address, write, self.syncFreeRegion);
    }

    private static int cacheSlot(long address) {
        return (int) ((address >>> 3) * 0x9e3779b97f4a7c15L >>> 54);
    }

    /** A read of a variable that the thread does not own. */
    static void recordRead(
        ThreadState self, Object of, long w, long r, long d, long address, long base, int shift, Object object,
        int site) {
        long write = U.getLong(of, w);
        int at = cacheSlot(address);
        if (isCovered(self, of, w, address) && !Memory.ALL) {
            return;
        }
        share(self, of, w, r, d, address, base, shift, object);
        if (!self.room()) {
            return;
        }
        write = U.getLong(of, w);
        int context = self.context(site);
        long now = self.now(Cells.lastTime(U.getLong(of, r)));
        self.putAccess(Record.head(Record.READ, 0xff, address), now, context);
        int own = countRun(self, of, d, false);
        if (own != NONE) {
            if (own == ALL) {
                U.putLong(of, w, self.defer(0));
            }
            U.putLong(of, r, self.defer(0));
            self.syncFreeRegion++;
            Remaining.add(of, w, r, d, address, base, shift);
            return;
        }
        leaveTime(of, r, now);
        if (!Cells.isOwnVersion(self, write)) {
            // It may have seen what another thread did: what it reads again may be another value.
            self.syncFreeRegion++;
        }
        self.cacheRead(at, key(address, write, self.syncFreeRegion));
    }

    /** A write of a variable that the thread does not own. */
    static void recordWrite(
        ThreadState self, Object of, long w, long r, long d, long address, long base, int shift, Object object,
        int site) {
        long read = U.getLong(of, r), write = U.getLong(of, w);
        // It repeats the thread's last record, and no other thread has accessed the variable in between.
        if (self.lastWrite == address && self.lastWriteAt == self.tick && read == self.lastWriteLeft
            && Cells.isOwnVersion(self, write) && !Memory.ALL) {
            return;
        }
        share(self, of, w, r, d, address, base, shift, object);
        if (!self.room()) {
            return;
        }
        int context = self.context(site);
        long now = self.now(Cells.lastTime(U.getLong(of, r)));
        U.putLong(of, w, Cells.version(self, now));
        leaveTime(of, r, now);
        self.putAccess(Record.head(Record.WRITE, 0xff, address), now, context);
        if (countRun(self, of, d, true) == ALL) {
            U.putLong(of, r, 0);
            U.putLong(of, w, self.defer(0));
            U.storeFence();
            Remaining.add(of, w, r, d, address, base, shift);
            return;
        }
        self.lastWrite = address;
        self.lastWriteAt = self.tick;
        self.lastWriteLeft = Cells.encodedTime(now);
        // A thread that sees the value sees this as well.
        U.storeFence();
    }

    private static void leaveTime(Object of, long r, long now) {
        U.putLong(of, r, Cells.encodedTime(now));
    }

    /** An access with its value: of a volatile variable, or of one that a specification names. */
    static void recordValue(
        ThreadState self, Object of, long w, long r, long address, int kind, int aux, long value, int site) {
        boolean isRead = kind == Record.LOAD || kind == Record.WATCHED_READ;
        U.loadFence();
        long write = U.getLong(of, w);
        // It repeats a load, and the thread has done nothing but loads since: a loop that waits.
        if (isRead && !Memory.ALL && self.loads.has(self.tick, address, write, value)) {
            return;
        }
        long before = self.tick;
        if (!self.room()) {
            return;
        }
        int context = self.context(site);
        long now = self.now(Cells.lastTime(U.getLong(of, r)));
        if (!isRead) {
            U.putLong(of, w, Cells.version(self, now));
        }
        leaveTime(of, r, now);
        long syncFreeRegion = self.syncFreeRegion;
        self.put3(Record.head(kind, aux, address), now, context, value);
        if (isRead) {
            self.loads.add(before, self.tick, address, write, value);
        }
        if (isRead && Cells.isOwnVersion(self, write)) {
            // The thread learnt nothing new, and no other thread comes after a read.
            self.syncFreeRegion = syncFreeRegion;
        }
        U.storeFence();
    }
}
