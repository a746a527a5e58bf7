package foretrace.agent;

import java.util.concurrent.ConcurrentHashMap;
import jdk.internal.vm.annotation.ForceInline;
import jdk.internal.vm.annotation.Stable;

/**
 *
 * The effects of a call before and after it, for one class of receivers at one site.
 *
 * The library looks them up in the tables when a site is first reached with a receiver of the class. They are kept in
 * stable arrays, so that HotSpot takes the effects of a site's first receiver class for constants and compiles the
 * hooks down to what this call needs.
 */
final class CallEffects {
    private static final int PAGE_BITS = 10, PAGE = 1 << PAGE_BITS, PAGES = 1 << 14;
    /** By site; each entry begins a list over receiver classes, whose first element never changes. */
    @Stable private static final CallEffects[][] KNOWN = new CallEffects[PAGES][];
    /** By site, for classes that may be unloaded: only the class itself keeps these alive. */
    private static final ClassValue<ConcurrentHashMap<Integer, CallEffects>> OF_UNLOADABLE =
        new ClassValue<ConcurrentHashMap<Integer, CallEffects>>() {
            @Override
            protected ConcurrentHashMap<Integer, CallEffects> computeValue(Class<?> of) {
                return new ConcurrentHashMap<>();
            }
        };
    private static final ClassLoader APPLICATION = ClassLoader.getSystemClassLoader();
    private static final ClassLoader PLATFORM = ClassLoader.getPlatformClassLoader();
    private static final long[] NOTHING = {};
    /** Bits of {@link #what}; {@link #IS} makes it differ from 0, which a stable field must. */
    private static final int IS = 1, IS_ATOMIC = 2, IS_SIMPLE = 4, IS_BACK_BEFORE = 8, IS_BACK_AFTER = 16,
        IS_UNSEEN = 32, IS_SORTED = 64, IS_OF_THIS = 128, IS_WRAPPER = 256, IS_FIXED = 512, IS_CONCURRENT = 1024,
        IS_SAME_ENTRY = 2048, IS_BLOCKING = 4096, IS_GUARDED = 8192;

    /** The class of the receivers; null: there is none. */
    @Stable private final Class<?> of;
    /** {@link Effect}s before and after the call. */
    @Stable final long[] before;
    @Stable final long[] after;
    @Stable private final int what;
    /** Of a {@link WrappedCollections wrapper}: the offset of the field with the collection inside. */
    final long within;
    @Stable private CallEffects next;

    /** {@code all}: how many effects are before the call; these; those after it; maybe {@link Effect#UNSEEN}. */
    private CallEffects(Class<?> of, long[] all) {
        this.of = of;
        boolean isUnseen = all != null && all[all.length - 1] == Effect.UNSEEN;
        all = isUnseen ? java.util.Arrays.copyOf(all, all.length - 1) : all;
        int count = all == null ? 0 : (int) all[0];
        // That a call may wait is no effect like others: it stands first, and is kept apart.
        boolean isBlocking = count > 0 && Effect.kind(all[1]) == Effect.BLOCKS;
        int first = isBlocking ? 2 : 1;
        before = count < first ? NOTHING : java.util.Arrays.copyOfRange(all, first, 1 + count);
        boolean hasAfter = all != null && all.length > 1 + count;
        after = hasAfter ? java.util.Arrays.copyOfRange(all, 1 + count, all.length) : NOTHING;
        boolean atomic = false, simple = true;
        for (long[] column : new long[][] {before, after}) {
            for (long effect : column) {
                atomic |= Effect.isAtomic(effect);
                simple &= Effect.isSimple(effect);
            }
        }
        boolean isSorted = of != null
            && (java.util.SortedMap.class.isAssignableFrom(of) || java.util.SortedSet.class.isAssignableFrom(of));
        within = WrappedCollections.at(of);
        int wrapper = within == 0 ? 0 : WrappedCollections.isFixed(of) ? IS_WRAPPER | IS_FIXED : IS_WRAPPER;
        boolean hasOneBefore = before.length == 1, hasOneAfter = after.length == 1;
        what = IS | wrapper | (atomic ? IS_ATOMIC : 0) | (simple ? IS_SIMPLE : 0)
            | (hasOneBefore && Effect.target(before[0]) == Effect.BACK ? IS_BACK_BEFORE : 0)
            | (hasOneAfter && Effect.target(after[0]) == Effect.BACK ? IS_BACK_AFTER : 0)
            | (isUnseen ? IS_UNSEEN : 0) | (isSorted ? IS_SORTED : 0)
            | (isBlocking ? IS_BLOCKING : 0)
            | (of != null && GuardedCollections.is(of) ? IS_GUARDED : 0)
            | (of != null && WrappedCollections.isConcurrent(of) ? IS_CONCURRENT : 0)
            | (hasOneBefore && isOfThis(before[0]) ? IS_OF_THIS : 0)
            | (hasOneBefore && hasOneAfter && isSameEntry(before[0], after[0]) ? IS_SAME_ENTRY : 0);
    }

    /** An atomic access is among the effects. */
    boolean isAtomic() {
        return (what & IS_ATOMIC) != 0;
    }

    /** All effects are of the receiver, or of entries of it that an argument or the result names. */
    boolean isSimple() {
        return (what & IS_SIMPLE) != 0;
    }

    /** The only effect before the call is one on the back of a queue, which most often does not apply. */
    boolean isBackBefore() {
        return (what & IS_BACK_BEFORE) != 0;
    }

    /** The only effect after the call is one on the back of a queue. */
    boolean isBackAfter() {
        return (what & IS_BACK_AFTER) != 0;
    }

    /** The tables do not say all that the call does: it may use what the held locks guard. */
    boolean isUnseen() {
        return (what & IS_UNSEEN) != 0;
    }

    /** The call may wait without a time limit, for what its receiver or, if there is none, another thread does. */
    boolean isBlocking() {
        return (what & IS_BLOCKING) != 0;
    }

    /** The only effect is an unconditional post or await of the object whose method makes the call. */
    boolean isOnlyOfThis() {
        return (what & IS_OF_THIS) != 0;
    }

    private static boolean isOfThis(long effect) {
        boolean isSync = Effect.kind(effect) == Effect.POST || Effect.kind(effect) == Effect.AWAIT;
        return isSync && Effect.target(effect) == Effect.THIS && Effect.condition(effect) == Effect.ALWAYS;
    }

    /** The only effects are a post of an entry before the call, and an await of that entry after it. */
    boolean isSameEntry() {
        return (what & IS_SAME_ENTRY) != 0;
    }

    private static boolean isSameEntry(long before, long after) {
        boolean isOfKeys = Effect.target(before) == Effect.KEY && Effect.target(after) == Effect.KEY
            && !Effect.isOfResult(before) && !Effect.isOfResult(after);
        boolean isPost = Effect.kind(before) == Effect.POST && Effect.condition(before) == Effect.ALWAYS;
        return isOfKeys && isPost && Effect.kind(after) == Effect.AWAIT;
    }

    /** A comparator says which keys are equal. */
    boolean isSorted() {
        return (what & IS_SORTED) != 0;
    }

    /** The receiver passes calls on to another collection. */
    boolean isWrapper() {
        return (what & IS_WRAPPER) != 0;
    }

    /** The receiver is a wrapper, and calls that would change the other collection throw. */
    boolean isFixed() {
        return (what & IS_FIXED) != 0;
    }

    /** The receiver passes calls on to another collection, under a lock. */
    boolean isGuarded() {
        return (what & IS_GUARDED) != 0;
    }

    /** The receiver is a collection that synchronises its users. */
    boolean isConcurrent() {
        return (what & IS_CONCURRENT) != 0;
    }

    /** The call changes the receiver. */
    boolean changes() {
        for (long effect : before) {
            if (Effect.kind(effect) == Effect.POST || Effect.kind(effect) == Effect.WRITE) {
                return true;
            }
        }
        return false;
    }

    /** The effects for the first receiver class of a site, a constant to the compiler; null: none is known yet. */
    @ForceInline
    static CallEffects first(int site) {
        CallEffects[] page = site >>> PAGE_BITS < PAGES ? KNOWN[site >>> PAGE_BITS] : null;
        return page == null ? null : page[site & PAGE - 1];
    }

    /** Whether these are the effects for a receiver (of a static method: for its argument). */
    @ForceInline
    boolean isOf(Object receiver) {
        return of == (receiver == null ? null : receiver.getClass());
    }

    /** The effects of a call at a site, for whatever receiver. */
    static CallEffects at(int site, Object receiver) {
        Class<?> of = receiver == null ? null : receiver.getClass();
        CallEffects known = known(site, of);
        if (known != null) {
            return known;
        }
        return of == null || isPermanent(of) ? find(site, of) : ofUnloadable(site, of);
    }

    private static CallEffects ofUnloadable(int site, Class<?> of) {
        ConcurrentHashMap<Integer, CallEffects> all = OF_UNLOADABLE.get(of);
        CallEffects known = all.get(site);
        if (known == null) {
            known = new CallEffects(of, Native.effects(site, of));
            all.put(site, known);
        }
        return known;
    }

    /** Whether a class is never unloaded. */
    private static boolean isPermanent(Class<?> of) {
        ClassLoader loader = of.getClassLoader();
        return loader == null || loader == APPLICATION || loader == PLATFORM;
    }

    private static CallEffects known(int site, Class<?> of) {
        for (CallEffects some = first(site); some != null; some = some.next) {
            if (some.of == of) {
                return some;
            }
        }
        return null;
    }

    private static CallEffects find(int site, Class<?> of) {
        CarrierPin.begin();
        try {
            synchronized (CallEffects.class) {
                // Another thread may have been faster.
                CallEffects found = known(site, of);
                if (found != null) {
                    return found;
                }
                found = new CallEffects(of, Native.effects(site, of));
                if (site >>> PAGE_BITS >= PAGES) {
                    return found;
                }
                CallEffects[] page = KNOWN[site >>> PAGE_BITS];
                if (page == null) {
                    page = KNOWN[site >>> PAGE_BITS] = new CallEffects[PAGE];
                }
                CallEffects last = page[site & PAGE - 1];
                while (last != null && last.next != null) {
                    last = last.next;
                }
                Memory.U.storeFence();
                if (last == null) {
                    page[site & PAGE - 1] = found;
                } else {
                    last.next = found;
                }
                return found;
            }
        } finally {
            CarrierPin.end();
        }
    }
}
