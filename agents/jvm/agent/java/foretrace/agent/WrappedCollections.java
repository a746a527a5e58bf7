package foretrace.agent;

import static foretrace.agent.Memory.U;

import java.util.concurrent.BlockingQueue;
import java.util.concurrent.ConcurrentMap;

/** Collections of the JDK that pass each call on to another (Collections.unmodifiableMap and the like): of one that synchronises it is told as if that had been called. */
final class WrappedCollections {
    /** How the classes' names begin, and fields that may have the other. */
    private static final String FIXED = "java.util.Collections$Unmodifiable", CONCURRENT = "java.util.concurrent";
    private static final String[] BEGINS = {
        FIXED, "java.util.Collections$Checked", "java.util.Collections$AsLIFOQueue", "java.util.ReverseOrderDequeView"
    };
    private static final String[] FIELDS = {"c", "m", "q", "s", "base"};

    private WrappedCollections() {}

    /** Where objects of a class have the other; 0 if they have none. */
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
                    // Another, or a class above.
                }
            }
        }
        return 0;
    }

    /** Whether they can not be changed through it: who tries does nothing. */
    static boolean isFixed(Class<?> of) {
        return of.getName().startsWith(FIXED);
    }

    /** Whether objects of a class synchronise who uses them. */
    static boolean isConcurrent(Class<?> of) {
        boolean is = ConcurrentMap.class.isAssignableFrom(of) || BlockingQueue.class.isAssignableFrom(of);
        return is || of.getPackageName().equals(CONCURRENT);
    }

    /** What is called in the end; null if that is not one that synchronises. */
    private static Object within(CallEffects effects, Object of, int site) {
        while (effects.isWrapper()) {
            of = Memory.reference(of, effects.within);
            if (of == null) {
                return null;
            }
            effects = CallEffects.at(site, of);
        }
        return effects.isConcurrent() ? of : null;
    }

    /** Whether it was told of another. */
    static boolean before(
        CallEffects effects, Object of, Object argument, int index, long number, Object value, boolean isNumber, int site) {
        try {
            Object within = within(effects, of == null ? argument : of, site);
            if (within == null) {
                return false;
            }
            if (!effects.isFixed() || !CallEffects.at(site, within).changes()) {
                Calls.before(of == null ? null : within, of == null ? within : argument, index, number, value, isNumber, site);
            }
        } catch (Throwable failed) {
            Native.failed(failed);
        }
        return true;
    }

    /** Whether it was told of another. */
    static boolean after(
        CallEffects effects, long result, Object returned, boolean isResult, Object of, Object argument, int index, long number, Object value,
        boolean isNumber, int site) {
        try {
            Object within = within(effects, of == null ? argument : of, site);
            if (within == null) {
                return false;
            }
            Object whole = of == null ? null : within;
            Calls.after(result, returned, isResult, whole, of == null ? within : argument, index, number, value, isNumber, site);
        } catch (Throwable failed) {
            Native.failed(failed);
        }
        return true;
    }
}
