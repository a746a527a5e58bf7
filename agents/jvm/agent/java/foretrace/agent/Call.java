package foretrace.agent;

/** The call that a thread is telling of: one for each thread, used again and again. */
final class Call {
    /** The receiver, the argument that rows speak of, and the index, if it is one (or else -1). */
    Object of, argument;
    int index;
    /** The argument whose value rows speak of: a number, or an object. */
    long number;
    Object value;
    boolean isNumber;
    /** What is returned. */
    long result;
    Object returned;
    boolean isResult;

    void set(Object of, Object argument, int index, long number, Object value, boolean isNumber) {
        this.of = of;
        this.argument = argument;
        this.index = index;
        this.number = number;
        this.value = value;
        this.isNumber = isNumber;
        returns(0, null, false);
    }

    void returns(long result, Object returned, boolean isResult) {
        this.result = result;
        this.returned = returned;
        this.isResult = isResult;
    }

    /** Nobody is kept from being collected. */
    void clear() {
        of = argument = value = returned = null;
    }

    boolean applies(long effect) {
        return Effect.applies(effect, result, returned);
    }

    /** The object that something is told of; null if there is none. */
    Object object(long effect) {
        switch (Effect.target(effect)) {
            case Effect.OBJECT:
                return Effect.isOfResult(effect) ? returned : argument;
            case Effect.THREAD:
                return Thread.currentThread();
            case Effect.ALL:
                return Calls.COMMON;
            default:
                return of;
        }
    }

    /** Whether the value that an atomic access has is known. */
    boolean hasValue(long effect) {
        switch (Effect.value(effect)) {
            case Effect.ARGUMENT:
                return isNumber;
            case Effect.RESULT:
                return isResult;
            case Effect.BOTH:
                return isNumber && isResult;
            default:
                return false;
        }
    }

    long valueOf(long effect) {
        switch (Effect.value(effect)) {
            case Effect.ARGUMENT:
                return number;
            case Effect.RESULT:
                return result + Effect.addend(effect);
            default:
                return result + number;
        }
    }
}
