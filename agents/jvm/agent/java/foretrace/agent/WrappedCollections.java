package foretrace.agent;

import static foretrace.agent.Memory.U;

import java.util.concurrent.BlockingQueue;
import java.util.concurrent.ConcurrentMap;

/**
 * Collections of the JDK that pass each call on to another one ({@code Collections.unmodifiableMap} and the like). If
 * that one synchronises, the call has the effects of a call on it.
 */
final class WrappedCollections {
    /** How the names of such classes begin, and the fields that may have the collection inside. */
    private static final String FIXED = "java.util.Collections$Unmodifiable", CONCURRENT = "java.util.concurrent";
    private static final String[] BEGINS = {
        FIXED, "java.util.Collections$Checked", "java.util.Collections$AsLIFOQueue", "java.util.ReverseOrderDequeView"
    };
    private static final String[] FIELDS = {"c", "m", "q", "s", "base"};

    private WrappedCollections() {}

    /** The offset of the field with the collection inside, in objects of a class; 0 if there is none. */
    static long at(Class<?> of) {
        for (int i = 0; of != null && i < BEGINS.length; i++) {
            if (of.getName().startsWith(BEGINS[i])) {
                return field(of);
            }
        }
        return 0;
    }

    private static long field(Class<?> of) {
        for (Class<?> type = of; type != Object.class; type = type.getSuperclass()) {
            for (String name : FIELDS) {
                try {
                    return U.objectFieldOffset(type, name);
                } catch (InternalError none) {
                    // The next name, or the super class.
                }
            }
        }
        return 0;
    }

    /** Whether calls that would change the collection inside throw. */
    static boolean isFixed(Class<?> of) {
        return of.getName().startsWith(FIXED);
    }

    /** Whether objects of a class synchronise their users. */
    static boolean isConcurrent(Class<?> of) {
        boolean is = ConcurrentMap.class.isAssignableFrom(of) || BlockingQueue.class.isAssignableFrom(of);
        return is || of.getPackageName().equals(CONCURRENT);
    }

    /** The collection that the call reaches first that synchronises; null if there is none. */
    private static Object within(CallEffects effects, Object of, int site) {
        while (effects.isWrapper()) {
            of = Memory.reference(of, effects.within);
            if (of == null) {
                return null;
            }
            effects = CallEffects.at(site, of);
        }
        return effects.isConcurrent() || effects.isGuarded() ? of : null;
    }

    /**
     * Records the effects before the call on the collection inside. Returns whether there is one that synchronises.
     */
    static boolean before(
        CallEffects effects, Object of, Object argument, int index, long number, Object value, boolean isNumber,
        int site) {
        try {
            Object within = within(effects, of == null ? argument : of, site);
            if (within == null) {
                return false;
            }
            if (GuardedCollections.is(within.getClass())) {
                GuardedCollections.calls(within, site);
                return false;
            }
            if (!effects.isFixed() || !CallEffects.at(site, within).changes()) {
                Calls.before(of == null ? null : within, of == null ? within : argument, index, number, value,
                    isNumber, site);
            }
        } catch (Throwable failed) {
            Native.failed(failed);
        }
        return true;
    }

    /**
     * Records the effects after the call on the collection inside. Returns whether there is one that synchronises.
     */
    static boolean after(
        CallEffects effects, long result, Object returned, boolean isResult, Object of, Object argument, int index,
        long number, Object value, boolean isNumber, int site) {
        try {
            Object within = within(effects, of == null ? argument : of, site);
            if (within == null || GuardedCollections.is(within.getClass())) {
                return false;
            }
            Object whole = of == null ? null : within;
            Calls.after(result, returned, isResult, whole, of == null ? within : argument, index, number, value,
                isNumber, site);
        } catch (Throwable failed) {
            Native.failed(failed);
        }
        return true;
    }
}
