package foretrace.agent;

/**
 * Where a thread's events are: the number of a site, or of the calls that led there. To walk through the stack costs far more than all else: it is done the first times at a site, and
 * then ever more rarely. In between the calls are those that it always was, if it was always the same.
 */
final class CallContexts {
    /** Sites whose calls are remembered, and how often the stack is walked through for each in any case. */
    private static final int COUNT = 1 << 10, WALKS = 4;
    /** Walks for sites that take another's entry: so many in any case, then one of some hundred. */
    private static final int MOST_MISSES = 1 << 10, RARELY = (1 << 8) - 1;
    /** What is known of a site, in one word: the site, how often it was asked for, and its place. */
    private static final int ASKED_BITS = 64 - DeferredAccess.SITE_BITS - Record.CONTEXT_BITS, SITE_SHIFT = ASKED_BITS + Record.CONTEXT_BITS;
    private static final int MOST_ASKED = 1 << ASKED_BITS - 1, CONTEXT_MASK = (1 << Record.CONTEXT_BITS) - 1;
    private static final long ONCE = 1L << Record.CONTEXT_BITS;
    private static final long[] NOTHING = new long[COUNT];

    private long[] known = NOTHING;
    /** An int would overflow, in time. */
    private long misses;

    int of(int site) {
        int at = site & COUNT - 1;
        long asked = known[at] + ONCE;
        int count = asked(asked);
        if (asked >>> SITE_SHIFT == site && count > WALKS && (count & count - 1) != 0) {
            known[at] = asked;
            return (int) asked & CONTEXT_MASK;
        }
        return site == 0 ? 0 : rarely(site, at);
    }

    private int rarely(int site, int at) {
        // So many are not told apart.
        if (site >>> DeferredAccess.SITE_BITS != 0) {
            return 0;
        }
        // Sites that share an entry must not make it walk each time.
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
            known = new long[COUNT];
        }
        long old = known[at];
        boolean isSame = old >>> SITE_SHIFT == site;
        int count = isSame ? asked(old) + 1 : 1;
        int kept = isSame && ((int) old & CONTEXT_MASK) != context ? site : context;
        known[at] = (long) site << SITE_SHIFT | (long) (count < MOST_ASKED ? count : MOST_ASKED / 2) << Record.CONTEXT_BITS | kept;
        return context;
    }

    private static int asked(long known) {
        return (int) (known >>> Record.CONTEXT_BITS) & (1 << ASKED_BITS) - 1;
    }

    /** Something is kept at a site that may be told later: the calls that lead there are looked at a few times. */
    void note(int site) {
        long old = known[site & COUNT - 1];
        if (old >>> SITE_SHIFT != site || asked(old) < WALKS) {
            of(site);
        }
    }

    /** The place of a site as it was last; another thread may ask. */
    int last(int site) {
        long old = known[site & COUNT - 1];
        return old >>> SITE_SHIFT == site ? (int) old & CONTEXT_MASK : site;
    }

    /** Its thread is over. */
    void forget() {
        known = NOTHING;
    }
}
