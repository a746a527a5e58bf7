package foretrace.agent;

/**
 * What {@code Collections.synchronizedList} and the like give: each call is passed on to a collection inside, under a
 * lock. If that one does not synchronise, what the call does to it is an access like any other. So an iteration without
 * the lock races with a change by another thread.
 *
 * The accesses are recorded inside the call, where the lock is held (agents/jvm/weave/src/hooks/inside.rs), at the site
 * where the program makes the call. Calls by code that is not watched record none: the locks of such code are not
 * known.
 */
final class GuardedCollections {
    private static final String BEGIN = "java.util.Collections$Synchronized";

    private GuardedCollections() {}

    /** Whether objects of a class are such collections. */
    static boolean is(Class<?> of) {
        return of.getClassLoader() == null && of.getName().startsWith(BEGIN);
    }

    /** The program is about to call such a collection. */
    static void calls(Object of, int site) {
        ThreadState self = ThreadState.ready();
        if (self != null) {
            self.guarded = of;
            self.guardedSite = site;
        }
    }

    /** The call is over. */
    static void returned() {
        ThreadState self = ThreadState.own();
        if (self != null) {
            self.guarded = null;
        }
    }

    /**
     * The collection inside is about to be accessed. {@code called} is the site of the method that is called, which
     * knows the effects; {@code argument} and {@code index} are those of the call that rows name.
     */
    static void accessed(Object of, Object argument, int index, int called) {
        ThreadState self = ThreadState.ready();
        if (self == null) {
            return;
        }
        boolean isCalled = self.guarded == of;
        self.guarded = null;
        self.enter();
        try {
            Object inside = isCalled ? PlainCollections.innermost(of, true) : null;
            Object next = inside == null ? null : PlainCollections.guardedWithin(of);
            if (next != null) {
                // The call is passed on to another one of these. It accesses the collection once that one's lock is
                // held, too.
                self.guarded = next;
                self.held.markInside(self);
            } else if (inside == null) {
                self.held.markInside(self);
            } else {
                CallEffects effects = CallEffects.at(called, inside);
                // Elements of a part of a list have other indices there.
                int at = PlainCollections.isDirectly(inside, of) ? index : -1;
                all(self, effects.before, inside, argument, at, self.guardedSite);
                all(self, effects.after, inside, argument, at, self.guardedSite);
            }
        } catch (Throwable failed) {
            Native.failed(failed);
        } finally {
            self.exit();
        }
    }

    private static void all(ThreadState self, long[] effects, Object inside, Object argument, int index, int site) {
        for (long effect : effects) {
            int kind = Effect.kind(effect);
            boolean isOfArgument = Effect.target(effect) == Effect.OBJECT;
            if (Effect.condition(effect) != Effect.ALWAYS) {
                continue;
            }
            if (kind == Effect.LOOK) {
                PlainCollections.look(self, inside, site);
            } else if (kind == Effect.CHANGE) {
                PlainCollections.change(self, inside, site);
            } else if (kind == Effect.ELEMENT_READS || kind == Effect.FIRST_READ) {
                PlainCollections.elements(self, inside, kind == Effect.FIRST_READ, site);
            } else if (kind == Effect.READ && isOfArgument) {
                PlainCollections.read(self, argument, site);
            } else if (kind == Effect.READ || kind == Effect.WRITE) {
                Shadow shadow = Shadows.of(inside, self, site);
                if (Effect.isOfIndex(effect) && index >= 0) {
                    PlainCollections.element(self, inside, shadow, index, kind == Effect.WRITE, site);
                } else {
                    Accesses.whole(self, shadow, kind == Effect.WRITE, site);
                }
            }
        }
    }
}
