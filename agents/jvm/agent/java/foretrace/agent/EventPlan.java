package foretrace.agent;

import java.util.HashMap;

/**
 * The values of an event and their sorts, as weaving writes them down (agents/jvm/weave/src/hooks/event.rs): {@code
 * ?C;object<C>;=int} is an event of calls on a {@code C} that records the receiver and the result.
 */
final class EventPlan {
    /** Sorts of values. Of {@link #ANY}, the value decides. */
    static final int ANY = 0, INT = 1, BOOL = 2, REAL_NUMBER = 3, STRING = 4, OBJECT = 5, THREAD = 6;
    /** Plans that were needed so far. A map is not changed any more, but replaced. */
    private static volatile HashMap<String, EventPlan> plans = new HashMap<>();

    /** The class that the receiver must be of; null: it is known to be. */
    private final OfClass receiver;
    private final int[] sorts;
    private final boolean[] areResults;
    /** The classes that values must be of, or null. */
    private final OfClass[] classes;
    private final int results;

    private EventPlan(String plan) {
        String[] parts = plan.isEmpty() ? new String[0] : plan.split(";");
        int first = parts.length > 0 && parts[0].startsWith("?") ? 1 : 0;
        receiver = first == 1 ? new OfClass(parts[0].substring(1)) : null;
        int count = parts.length - first;
        sorts = new int[count];
        areResults = new boolean[count];
        classes = new OfClass[count];
        int found = 0;
        for (int i = 0; i < count; i++) {
            String sort = parts[first + i];
            if (sort.startsWith("=")) {
                areResults[i] = true;
                found = 1;
                sort = sort.substring(1);
            }
            sorts[i] = sort(sort);
            if (sort.startsWith("object<")) {
                classes[i] = new OfClass(sort.substring("object<".length(), sort.length() - 1));
            }
        }
        results = found;
    }

    private static int sort(String name) {
        switch (name) {
            case "int":
                return INT;
            case "bool":
                return BOOL;
            case "real":
                return REAL_NUMBER;
            case "string":
                return STRING;
            case "thread":
                return THREAD;
            default:
                return OBJECT;
        }
    }

    /** The plan of this text. */
    static EventPlan of(String text) {
        EventPlan known = plans.get(text);
        return known != null ? known : add(text);
    }

    private static EventPlan add(String text) {
        CarrierPin.begin();
        try {
            synchronized (EventPlan.class) {
                HashMap<String, EventPlan> more = new HashMap<>(plans);
                EventPlan made = new EventPlan(text);
                more.put(text, made);
                plans = more;
                return made;
            }
        } finally {
            CarrierPin.end();
        }
    }

    /** How many values are passed for it. */
    int passed(boolean threw) {
        int count = receiver == null ? 0 : 1;
        for (boolean isResult : areResults) {
            count += isResult ? 0 : 1;
        }
        // The result is passed once, however often it is a value.
        return count + (threw ? 0 : results);
    }

    /** Whether the receiver, the first of these values, is of the class that the event is bound to. */
    boolean isOfReceiver(EventValues values, int first) {
        return receiver == null || receiver.has(values.objects[first]);
    }

    /** Records the values, of which the first is at this index (-1: they are not known). */
    void record(ThreadState self, int first, boolean threw, int site) {
        EventValues values = self.eventValues;
        int next = first + (receiver == null ? 0 : 1);
        int last = first + passed(threw) - 1;
        for (int i = 0; i < sorts.length; i++) {
            int at = areResults[i] ? last : next++;
            if (first < 0 || areResults[i] && threw) {
                self.aside(Record.VALUE_UNKNOWN, 0);
                continue;
            }
            long number = values.numbers[at];
            switch (values.kinds[at]) {
                case EventValues.OBJECT:
                    record(self, sorts[i], classes[i], values.objects[at], site);
                    break;
                case EventValues.NUMBER:
                    number(self, sorts[i], number);
                    break;
                default:
                    real(self, sorts[i], Double.longBitsToDouble(number));
            }
        }
    }

    /** Records an object as a value of a sort; if it is none, it is not known. */
    static void record(ThreadState self, int sort, OfClass of, Object value, int site) {
        if (value == null) {
            self.aside(Record.VALUE_UNKNOWN, 0);
        } else if (sort == OBJECT) {
            boolean isOne = of == null || of.has(value);
            long address = isOne ? Shadows.of(value, self, site).address : 0;
            self.aside(isOne ? Record.VALUE_OBJECT : Record.VALUE_UNKNOWN, address);
        } else if (value instanceof Boolean) {
            boolean is = (Boolean) value;
            if (sort == ANY) {
                self.aside(Record.VALUE_BOOL, is ? 1 : 0);
            } else {
                number(self, sort, is ? 1 : 0);
            }
        } else if (value instanceof Long || value instanceof Integer || value instanceof Short
            || value instanceof Byte) {
            number(self, sort, ((Number) value).longValue());
        } else if (value instanceof Character) {
            number(self, sort, (Character) value);
        } else if (value instanceof Double || value instanceof Float) {
            real(self, sort, ((Number) value).doubleValue());
        } else if (value instanceof String && (sort == STRING || sort == ANY)) {
            self.text(Record.ARGUMENT_TEXT, (String) value);
        } else if (value instanceof Thread && sort == THREAD) {
            Object state = ((Thread) value).foretrace$state;
            boolean isKnown = state instanceof ThreadState && state != ThreadState.NONE;
            long word = isKnown ? Threads.word((ThreadState) state) : 0;
            self.aside(isKnown ? Record.VALUE_THREAD : Record.VALUE_UNKNOWN, word);
        } else if (sort == ANY) {
            self.aside(Record.VALUE_OBJECT, Shadows.of(value, self, site).address);
        } else {
            self.aside(Record.VALUE_UNKNOWN, 0);
        }
    }

    private static void number(ThreadState self, int sort, long number) {
        if (sort == INT || sort == ANY) {
            self.aside(Record.VALUE_INT, number);
        } else if (sort == BOOL && (number == 0 || number == 1)) {
            self.aside(Record.VALUE_BOOL, number);
        } else if (sort == REAL_NUMBER) {
            self.aside(Record.VALUE_REAL, Double.doubleToRawLongBits(number));
        } else {
            self.aside(Record.VALUE_UNKNOWN, 0);
        }
    }

    private static void real(ThreadState self, int sort, double number) {
        boolean isReal = sort == REAL_NUMBER || sort == ANY;
        self.aside(isReal ? Record.VALUE_REAL : Record.VALUE_UNKNOWN, isReal ? Double.doubleToRawLongBits(number) : 0);
    }

    /** Which classes are, or extend or implement, the one of a name. */
    private static final class OfClass extends ClassValue<Boolean> {
        private final String name;

        OfClass(String name) {
            this.name = name;
        }

        boolean has(Object object) {
            return object != null && get(object.getClass());
        }

        @Override
        protected Boolean computeValue(Class<?> of) {
            for (Class<?> one = of; one != null; one = one.getSuperclass()) {
                if (one.getName().equals(name)) {
                    return true;
                }
                for (Class<?> implemented : one.getInterfaces()) {
                    if (get(implemented)) {
                        return true;
                    }
                }
            }
            return false;
        }
    }
}
