package foretrace.agent;

/**
 * The call contexts of a thread's records: for each site, the calls that led there.
 *
 * A stack walk costs far more than everything else in a hook. So the stack is walked the first times at a site, and
 * then ever more rarely. In between, the context is the one that all walks found, marked as {@link #GUESSED}, or the
 * bare site if they differ. A deferred access has such a context, too, unless the stack was walked at that very access.
 *
 * <pre>
 * An entry, by the lower bits of its site:
 *
 *    63       44 43            24 23              0
 *   |    site   |  times asked   |   call context   |
 * </pre>
 */
final class CallContexts {
    /** How many sites are remembered, and how often the stack is walked for each in any case. */
    private static final int COUNT = 1 << 10, WALKS = 4;
    /**
     * Sites may share an entry, which makes them walk each time: this often at first, later once in some hundred
     * times.
     */
    private static final int MOST_MISSES = 1 << 10, RARELY = (1 << 8) - 1;
    /** Bits of an entry. */
    private static final int ASKED_BITS = 64 - DeferredAccess.SITE_BITS - Record.CONTEXT_BITS,
        SITE_SHIFT = ASKED_BITS + Record.CONTEXT_BITS;
    private static final int MOST_ASKED = 1 << ASKED_BITS - 1, CONTEXT_MASK = (1 << Record.CONTEXT_BITS) - 1;
    private static final long ONCE = 1L << Record.CONTEXT_BITS;
    private static final long[] NOTHING = new long[COUNT];
    /** In the number of a context: the stack was not walked. */
    static final int GUESSED = 1 << 23;

    private long[] known = NOTHING;
    /** The tick of the last deferred access at which the stack was walked. */
    private long[] walked = NOTHING;
    /** An int would overflow. */
    private long misses;

    int at(int site) {
        int at = site & COUNT - 1;
        long asked = known[at] + ONCE;
        int count = asked(asked);
        if (asked >>> SITE_SHIFT == site && count > WALKS && (count & count - 1) != 0) {
            known[at] = asked;
            return guessed((int) asked & CONTEXT_MASK, site);
        }
        return site == 0 ? 0 : rarely(site, at);
    }

    private int rarely(int site, int at) {
        // There is no room for so large a site in an entry.
        if (site >>> DeferredAccess.SITE_BITS != 0) {
            return 0;
        }
        // Sites that share an entry must not walk each time.
        if (known[at] != 0 && known[at] >>> SITE_SHIFT != site && ++misses > MOST_MISSES && (misses & RARELY) != 0) {
            return site;
        }
        return walk(site, at);
    }

    private int walk(int site, int at) {
        int context = Native.callContext(site);
        if (context == 0) {
            context = site;
        }
        if (known == NOTHING) {
            walked = new long[COUNT];
            known = new long[COUNT];
        }
        long old = known[at];
        boolean isSame = old >>> SITE_SHIFT == site;
        int count = isSame ? asked(old) + 1 : 1;
        int kept = isSame && ((int) old & CONTEXT_MASK) != context ? site : context;
        long asked = count < MOST_ASKED ? count : MOST_ASKED / 2;
        known[at] = (long) site << SITE_SHIFT | asked << Record.CONTEXT_BITS | kept;
        return context;
    }

    private static int asked(long known) {
        return (int) (known >>> Record.CONTEXT_BITS) & (1 << ASKED_BITS) - 1;
    }

    /**
     * An access is deferred at a site and may be recorded later: looks at the calls a few times, while they can be
     * seen.
     */
    boolean note(int site) {
        long old = known[site & COUNT - 1];
        if (old >>> SITE_SHIFT != site || asked(old) < WALKS) {
            int context = at(site);
            return context != site && (context & GUESSED) == 0;
        }
        return false;
    }

    /** The stack was walked when an access was deferred. */
    void walkedAt(long deferred) {
        walked[(int) deferred & COUNT - 1] = deferred >>> DeferredAccess.SITE_BITS;
    }

    /** The context of a deferred access, as far as it is known. Other threads ask this, too. */
    int of(long deferred) {
        int site = (int) (deferred & DeferredAccess.SITE_MASK);
        long old = known[site & COUNT - 1];
        if (old >>> SITE_SHIFT != site) {
            return site;
        }
        int context = (int) old & CONTEXT_MASK;
        boolean isWalked = walked[site & COUNT - 1] == deferred >>> DeferredAccess.SITE_BITS;
        return isWalked ? context : guessed(context, site);
    }

    private static int guessed(int context, int site) {
        return context == site ? site : context | GUESSED;
    }

    /** The thread has ended. */
    void forget() {
        known = NOTHING;
        walked = NOTHING;
    }
}
