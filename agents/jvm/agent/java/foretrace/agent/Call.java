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

    boolean isTold(long told) {
        return Told.isTold(told, result, returned);
    }

    /** The object that something is told of; null if there is none. */
    Object object(long told) {
        switch (Told.of(told)) {
            case Told.OBJECT:
                return Told.isOfResult(told) ? returned : argument;
            case Told.THREAD:
                return Thread.currentThread();
            case Told.ALL:
                return Calls.COMMON;
            default:
                return of;
        }
    }

    /** Whether the value that an atomic access has is known. */
    boolean hasValue(long told) {
        switch (Told.value(told)) {
            case Told.ARGUMENT:
                return isNumber;
            case Told.RESULT:
                return isResult;
            case Told.BOTH:
                return isNumber && isResult;
            default:
                return false;
        }
    }

    long valueOf(long told) {
        switch (Told.value(told)) {
            case Told.ARGUMENT:
                return number;
            case Told.RESULT:
                return result + Told.more(told);
            default:
                return result + number;
        }
    }
}
