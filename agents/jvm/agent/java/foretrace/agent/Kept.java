package foretrace.agent;

import jdk.internal.vm.annotation.ForceInline;

/**
 * Says in which field of which object locks and objects of the program are put, so that reports can call them by the
 * way that leads there. Of each site, the first {@link #MOST} count.
 */
final class Kept {
    private static final int MOST = 64;
    private static final int PAGE_BITS = 12, PAGE = 1 << PAGE_BITS, PAGES = 1 << 12;
    /** By site: how many were noted. Threads may note a few more at the same time. */
    private static final byte[][] COUNTS = new byte[PAGES][];

    private Kept() {}

    /** An object is about to be put in a field; the owner is null if the field is static. */
    @ForceInline
    static void put(Object owner, Object value, int site) {
        byte[] page = COUNTS[site >>> PAGE_BITS];
        if (value != null && (page == null || page[site & PAGE - 1] < MOST)) {
            note(owner, value, site);
        }
    }

    private static void note(Object owner, Object value, int site) {
        if (!(value instanceof Watched) && !Shadows.isLock(value)) {
            return;
        }
        ThreadState self = ThreadState.ready();
        if (self == null) {
            return;
        }
        self.enter();
        try {
            int at = site >>> PAGE_BITS;
            if (COUNTS[at] == null) {
                COUNTS[at] = new byte[PAGE];
            }
            COUNTS[at][site & PAGE - 1]++;
            long of = owner == null ? 0 : Shadows.of(owner, self, site).address;
            Native.kept(Shadows.of(value, self, site + 1).address, of, site);
        } catch (Throwable failed) {
            Native.failed(failed);
        } finally {
            self.exit();
        }
    }
}
