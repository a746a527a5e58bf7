package foretrace.agent;

import java.lang.ref.ReferenceQueue;

/**
 * Finds the shadow of an object: in a field, if one could be added to its class; else by identity, in tables of weak
 * references.
 */
final class Shadows {
    /** How many shadows a thread has in its cache. */
    static final int CACHE_SIZE = 64;
    private static final int STRIPES = 64;
    private static final Table[] TABLES = new Table[STRIPES];

    static {
        for (int i = 0; i < STRIPES; i++) {
            TABLES[i] = new Table();
        }
    }

    private Shadows() {}

    /**
     * The shadow of an object, which is made if there is none. The site says where the thread looks first; callers pass
     * {@code site + 1} for the second object of a call, so that the two do not replace each other.
     */
    static Shadow of(Object object, ThreadState self, int site) {
        if (object instanceof Watched) {
            Shadow known = ((Watched) object).foretrace$shadow;
            return known != null ? known : make((Watched) object);
        }
        int at = site & CACHE_SIZE - 1;
        Shadow cached = self.shadowCache[at];
        if (cached != null && cached.get() == object) {
            return cached;
        }
        Shadow found = find(object, 0);
        self.shadowCache[at] = found;
        return found;
    }

    /** The shadow of an object's monitor. */
    static Shadow monitor(Object object, ThreadState self, int site) {
        Shadow shadow = of(object, self, site);
        return hasLockBeside(object) ? shadow.monitor(object) : shadow;
    }

    /** The shadow of an object's monitor, if it has one. */
    static Shadow existingMonitor(Object object) {
        Shadow shadow = existing(object);
        return shadow != null && hasLockBeside(object) ? shadow.existingMonitor() : shadow;
    }

    /**
     * Whether an object is a lock or condition of java.util.concurrent, which has nothing to do with the object's
     * monitor.
     */
    private static boolean hasLockBeside(Object object) {
        return !(object instanceof Watched)
            && (object instanceof java.util.concurrent.locks.Lock
                || object instanceof java.util.concurrent.locks.ReadWriteLock
                || object instanceof java.util.concurrent.locks.StampedLock
                || object instanceof java.util.concurrent.locks.Condition);
    }

    /** The shadow of an object, if it has one. */
    static Shadow existing(Object object) {
        if (object instanceof Watched) {
            return ((Watched) object).foretrace$shadow;
        }
        int hash = hash(object);
        return TABLES[hash & STRIPES - 1].known(object, hash);
    }

    /** The shadow of an object, if it has one. The site says where the thread looks first. */
    static Shadow existing(Object object, ThreadState self, int site) {
        if (object instanceof Watched) {
            return ((Watched) object).foretrace$shadow;
        }
        int at = site & CACHE_SIZE - 1;
        Shadow cached = self.shadowCache[at];
        if (cached != null && cached.get() == object) {
            return cached;
        }
        int hash = hash(object);
        Shadow known = TABLES[hash & STRIPES - 1].known(object, hash);
        if (known != null) {
            self.shadowCache[at] = known;
        }
        return known;
    }

    /** An object was made at a site. */
    static void made(Object object, int site) {
        Shadow made = object instanceof Watched ? ((Watched) object).foretrace$shadow : find(object, site);
        if (made != null) {
            // The constructor may have used the object already.
            if (!made.hasSite) {
                made.hasSite = true;
                Native.made(made.address, site);
            }
        } else if (site >>> Watched.MADE_BITS == 0) {
            ((Watched) object).foretrace$born |= (long) site << Watched.MADE_SHIFT;
        }
    }

    /** Whether an object of the JDK is most often made to be a lock. */
    static boolean isLock(Object object) {
        return object.getClass() == Object.class || object instanceof java.util.concurrent.locks.ReentrantLock
            || object instanceof java.util.concurrent.locks.ReentrantReadWriteLock
            || object instanceof java.util.concurrent.locks.StampedLock;
    }

    private static Shadow make(Watched object) {
        CarrierPin.begin();
        try {
            synchronized (Shadows.class) {
                if (object.foretrace$shadow == null) {
                    object.foretrace$shadow = new Shadow(object, null, 0, 0);
                }
                return object.foretrace$shadow;
            }
        } finally {
            CarrierPin.end();
        }
    }

    private static Shadow find(Object object, int site) {
        int hash = hash(object);
        return TABLES[hash & STRIPES - 1].find(object, hash, site);
    }

    private static int hash(Object object) {
        int hash = System.identityHashCode(object);
        return hash ^ hash >>> 16;
    }

    /** Shadows of objects to which no field could be added, by identity. */
    private static final class Table {
        private final ReferenceQueue<Object> gone = new ReferenceQueue<>();
        private Shadow[] chains = new Shadow[64];
        private int size;

        Shadow known(Object object, int hash) {
            CarrierPin.begin();
            try {
                synchronized (this) {
                    for (Shadow known = chains[at(hash)]; known != null; known = known.next) {
                        if (known.hash == hash && known.get() == object) {
                            return known;
                        }
                    }
                    return null;
                }
            } finally {
                CarrierPin.end();
            }
        }

        Shadow find(Object object, int hash, int site) {
            CarrierPin.begin();
            try {
                synchronized (this) {
                    Shadow known = known(object, hash);
                    if (known != null) {
                        return known;
                    }
                    for (Shadow old = (Shadow) gone.poll(); old != null; old = (Shadow) gone.poll()) {
                        remove(old);
                    }
                    Shadow made = new Shadow(object, gone, hash, site);
                    if (++size > chains.length) {
                        grow();
                    }
                    made.next = chains[at(hash)];
                    chains[at(hash)] = made;
                    return made;
                }
            } finally {
                CarrierPin.end();
            }
        }

        private int at(int hash) {
            return hash >>> 6 & chains.length - 1;
        }

        private void grow() {
            Shadow[] old = chains;
            chains = new Shadow[old.length * 2];
            for (Shadow first : old) {
                for (Shadow next; first != null; first = next) {
                    next = first.next;
                    int at = at(first.hash);
                    first.next = chains[at];
                    chains[at] = first;
                }
            }
        }

        private void remove(Shadow old) {
            int at = at(old.hash);
            Shadow before = null;
            for (Shadow known = chains[at]; known != null; before = known, known = known.next) {
                if (known == old) {
                    if (before == null) {
                        chains[at] = known.next;
                    } else {
                        before.next = known.next;
                    }
                    size--;
                    return;
                }
            }
        }
    }
}
