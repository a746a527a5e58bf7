package foretrace.agent;

import jdk.internal.vm.annotation.ForceInline;

/** What is told inside of classes of the JDK (agents/jvm/weave/src/hooks/inside.table). */
final class Inside {
    /** A stream or writer of the program's is below one of the JDK. Most programs have none, and print a lot. */
    private static volatile boolean isBelow;

    private Inside() {}

    /** Told of an object (null: of {@link Calls#COMMON}), with a value that it depends on, or with what it stands for. */
    @ForceInline
    static void told(Object of, long number, Object value, int site) {
        Told first = Told.first(site);
        if (first != null && first.isOnlyOfThis()) {
            ofThis(first.before[0], of, value, site);
        } else {
            any(of, number, value, site);
        }
    }

    /** A post or an await of what the program has called, around what that calls. */
    @ForceInline
    private static void ofThis(long told, Object of, Object value, int site) {
        Buffer b = Buffer.own();
        Shadow current = b == null ? null : b.current;
        if (current == null || current.get() != of || b.currentEntry == Entries.FILLED) {
            any(of, 0, value, site);
            return;
        }
        if (!b.isReady()) {
            return;
        }
        b.enter();
        try {
            if (Told.word(told) == Told.POST) {
                Entries.post(b, current.whole(), b.currentEntry, site);
            } else {
                Entries.await(b, current.whole(), b.currentEntry, site);
            }
        } catch (Throwable failed) {
            Native.failed(failed);
        } finally {
            b.exit();
        }
    }

    private static void any(Object of, long number, Object value, int site) {
        if (value == null && !isBelow && of instanceof java.io.Flushable) {
            return;
        }
        Buffer b = Buffer.ready();
        if (b == null) {
            return;
        }
        b.enter();
        try {
            for (long one : Told.at(site, null).before) {
                Object object = Told.of(one) == Told.ALL ? Calls.COMMON : of;
                if (object == null || !Told.isTold(one, number, value)) {
                    continue;
                }
                if (Told.of(one) == Told.EACH) {
                    for (Object each : (Iterable<?>) object) {
                        one(b, one, each, value, site);
                    }
                } else {
                    one(b, one, object, value, site);
                }
            }
        } catch (Throwable failed) {
            Native.failed(failed);
        } finally {
            b.exit();
        }
    }

    private static void one(Buffer b, long told, Object of, Object value, int site) {
        int word = Told.word(told);
        if (word == Told.ENDED) {
            Threads.ended(b);
            return;
        }
        if (word == Told.REQUEST) {
            Requests.parked(b, of);
            return;
        }
        // What the program has used, not maps that only the JDK knows; and who awaits something of which nothing is known awaits nothing.
        boolean isMade = Told.of(told) != Told.THIS && (word == Told.POST || word == Told.VIEW);
        Shadow shadow = word == Told.PART || word == Told.CURRENT ? null : isMade ? Shadows.of(of, b, site) : Shadows.known(of, b, site);
        boolean isCurrent = Told.of(told) == Told.THIS && shadow != null && b.current == shadow;
        int entry = isCurrent && b.currentEntry != Entries.FILLED ? b.currentEntry : Entries.WHOLE;
        switch (word) {
            case Told.POST:
                if (shadow != null) {
                    Entries.post(b, shadow.whole(), entry, site);
                }
                break;
            case Told.AWAIT:
                if (shadow != null) {
                    Entries.await(b, shadow.whole(), entry, site);
                    Calls.filled(b, site);
                }
                Shadow.seen(b, of);
                break;
            case Told.VIEW:
                shadow.standsFor(Shadows.of(value, b, site + 1));
                break;
            case Told.PART:
                // What the program has made is known to it, even if nothing was told of it yet.
                boolean isPrograms = value != null && value.getClass().getClassLoader() != null;
                Shadow whole = value == null ? b.current : isPrograms ? Shadows.of(value, b, site + 1) : Shadows.known(value, b, site + 1);
                if (whole != null) {
                    Shadows.of(of, b, site).standsFor(whole.whole());
                    isBelow |= of instanceof java.io.Flushable;
                }
                break;
            case Told.CURRENT:
                b.current = Shadows.known(of, b, site);
                b.currentEntry = Entries.WHOLE;
                break;
            default:
                break;
        }
    }
}
