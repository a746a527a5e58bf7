package foretrace.agent;

/**
 * The receiver, arguments and result of a call, for effects that need more than the receiver. One object per thread,
 * reused.
 */
final class Call {
    /**
     * The receiver; the argument that the rows of the table name; and the index, if that argument is one, else -1.
     */
    Object of, argument;
    int index;
    /** The argument whose value the rows name: a number or an object. */
    long number;
    Object value;
    boolean isNumber;
    /** What the call returned: a number or an object. */
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

    /** Keeps no object alive. */
    void clear() {
        of = argument = value = returned = null;
    }

    boolean applies(long effect) {
        return Effect.applies(effect, result, returned);
    }

    /** The object that is the target of an effect; null if there is none. */
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

    /** Whether the value of an atomic access is known. */
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
