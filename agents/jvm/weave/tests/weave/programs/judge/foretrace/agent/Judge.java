package foretrace.agent;

import java.io.IOException;
import java.lang.reflect.Field;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.Collections;
import java.util.HashMap;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.TransferQueue;
import java.util.concurrent.locks.StampedLock;

/**
 * Decides by happens-before which programs have a race for their `x`, from the effects that the hooks pass. It is the
 * simplest judge that takes the tables at their word. One lock guards everything, so it is slow.
 */
public final class Judge {
    /** The state of a thread. */
    static final class State {
        final int number;
        int[] clock;
        /** The clock of the last release fence, for later stores; and of relaxed loads, for a later acquire fence. */
        int[] fenced = {}, loaded = {};
        boolean busy;
        /** The object that was called last. */
        Object current;
        /** The collection that another one is being put into. */
        Object filled;
        final ArrayDeque<Object> monitors = new ArrayDeque<>();

        State(int number, int[] clock) {
            this.number = number;
            this.clock = Arrays.copyOf(clock, Math.max(clock.length, number + 1));
            this.clock[number] = 1;
        }
    }

    /** One effect of a row. */
    static final class Effect {
        final String kind, order, target, value, condition;
        /** The row also has an effect on a part. */
        boolean isOfPart;

        Effect(String text) {
            String[] parts = text.split(" ");
            kind = parts[0];
            order = parts[1];
            target = parts[2];
            value = parts[3];
            condition = parts[4];
        }

        boolean isOf(String begin) { return target.startsWith(begin); }
        boolean acquires() { return !order.equals("relaxed") && !order.equals("release"); }
        boolean releases() { return !order.equals("relaxed") && !order.equals("acquire"); }
    }

    static final class Row {
        String type, name;
        final List<Effect> before = new ArrayList<>(), after = new ArrayList<>();
    }

    /** A part of an object: an element, an entry, a field. */
    static final class Part {
        final Object whole, part;
        final boolean isSame;

        Part(Object whole, Object part, boolean isSame) {
            this.whole = whole;
            this.part = part;
            this.isSame = isSame;
        }

        @Override public int hashCode() {
            return System.identityHashCode(whole) + (isSame ? System.identityHashCode(part) : part.hashCode());
        }

        @Override public boolean equals(Object other) {
            if (!(other instanceof Part) || ((Part) other).whole != whole)
                return false;
            Object own = ((Part) other).part;
            return isSame ? own == part : part.equals(own);
        }
    }

    static final class Variable {
        int[] reads = {}, writes = {};
    }

    private final Map<Integer, List<Row>> calls = new HashMap<>();
    private final Map<Integer, Effect> effects = new HashMap<>();
    private final Map<Integer, String> sites = new HashMap<>();
    private final Map<Object, int[]> posts = new IdentityHashMap<>(), reads = new IdentityHashMap<>();
    /** Posts of a whole, which an await of a part comes after, too. */
    private final Map<Object, int[]> wholes = new IdentityHashMap<>();
    private final Map<Part, int[]> parts = new HashMap<>();
    private final Map<Object, Object> views = new IdentityHashMap<>(), names = new IdentityHashMap<>();
    private final Map<Thread, State> threads = new IdentityHashMap<>();
    private final Map<String, Variable> variables = new HashMap<>();
    private final Set<String> racy = Collections.synchronizedSet(new TreeSet<>());
    private final Object common = new Object();
    private int count;
    private static volatile String ignored;
    private final InheritableThreadLocal<State> mine = new InheritableThreadLocal<>() {
        @Override protected State childValue(State parent) {
            if (parent == null)
                return null;
            synchronized (Judge.this) {
                State state = new State(count++, parent.clock);
                parent.clock[parent.number]++;
                return state;
            }
        }
    };

    private Judge(Path data) throws IOException {
        for (String line : Files.readAllLines(data)) {
            String[] parts = line.split("\t");
            int number = Integer.parseInt(parts[1]);
            if (parts[0].equals("site"))
                sites.put(number, parts[2]);
            else if (parts[0].equals("inside")) {
                effects.put(number, new Effect(parts[3]));
                names.put(effects.get(number), parts[2]);
            } else {
                Row row = new Row();
                row.type = parts[2].split(" ")[0].replace('/', '.');
                row.name = parts[2];
                for (int k = 3; k < parts.length; k++)
                    (parts[k].startsWith("<") ? row.before : row.after).add(new Effect(parts[k].substring(1)));
                for (Effect one : row.before)
                    one.isOfPart = row.before.stream().anyMatch(other -> other.isOf("Key") || other.isOf("Element"));
                calls.computeIfAbsent(number, n -> new ArrayList<>()).add(row);
            }
        }
    }

    /** Begins to judge. */
    public static void begin(String data) throws IOException {
        Hooks.judge = new Judge(Path.of(data));
    }

    /** Ignores a row from now on. */
    public static void without(String row) {
        ignored = row;
    }

    /** The programs that have a race. */
    public static Set<String> end() {
        Judge judge = Hooks.judge;
        Hooks.judge = null;
        return judge.racy;
    }

    private State enter() {
        State state = mine.get();
        if (state == null) {
            synchronized (this) {
                state = new State(count++, new int[0]);
            }
            mine.set(state);
        }
        if (state.busy)
            return null;
        state.busy = true;
        threads.put(Thread.currentThread(), state);
        return state;
    }

    private static int[] max(int[] one, int[] other) {
        int[] all = Arrays.copyOf(one, Math.max(one.length, other.length));
        for (int k = 0; k < other.length; k++)
            all[k] = Math.max(all[k], other[k]);
        return all;
    }

    private static <K> void post(Map<K, int[]> map, K of, State me) {
        map.merge(of, me.clock.clone(), Judge::max);
        me.clock[me.number]++;
    }

    private static <K> void await(Map<K, int[]> map, K of, State me) {
        me.clock = max(me.clock, map.getOrDefault(of, new int[0]));
    }

    synchronized void access(boolean isWrite, int site) {
        String field = sites.get(site);
        if (field == null || !field.endsWith(".x"))
            return;
        State me = enter();
        if (me == null)
            return;
        Variable x = variables.computeIfAbsent(field, name -> new Variable());
        int[] others = isWrite ? max(x.reads, x.writes) : x.writes;
        for (int k = 0; k < others.length; k++) {
            if (k != me.number && others[k] > (k < me.clock.length ? me.clock[k] : 0))
                racy.add(field.substring(0, field.length() - 2));
        }
        int[] mine = new int[me.number + 1];
        mine[me.number] = me.clock[me.number];
        if (isWrite)
            x.writes = max(x.writes, mine);
        else
            x.reads = max(x.reads, mine);
        me.busy = false;
    }

    synchronized void monitor(Object o, boolean isEntered) {
        State me = enter();
        if (me == null)
            return;
        if (isEntered)
            await(posts, o, me);
        else
            post(posts, o, me);
        me.busy = false;
    }

    void enteredMethod(Object o) {
        monitor(o, true);
        State me = mine.get();
        if (me != null && !me.busy)
            me.monitors.push(o);
    }

    void leavingMethod() {
        State me = mine.get();
        if (me != null && !me.busy && !me.monitors.isEmpty())
            monitor(me.monitors.pop(), false);
    }

    private static boolean isOf(Class<?> type, String name) {
        if (type == null)
            return false;
        if (type.getName().equals(name) || isOf(type.getSuperclass(), name))
            return true;
        return Arrays.stream(type.getInterfaces()).anyMatch(one -> isOf(one, name));
    }

    private static Row choose(List<Row> rows, Object o) {
        if (o == null)
            return rows.get(0);
        Row best = null;
        for (Row row : rows) {
            boolean isPrefix = row.type.endsWith("*");
            String prefix = row.type.substring(0, row.type.length() - 1);
            boolean fits = isPrefix
                ? best == null && o.getClass().getName().startsWith(prefix)
                : isOf(o.getClass(), row.type);
            if (fits) {
                try {
                    if (best == null || best.type.endsWith("*") || isOf(Class.forName(row.type), best.type))
                        best = row;
                } catch (ClassNotFoundException e) {
                    throw new IllegalStateException(e);
                }
            }
        }
        return best;
    }

    /** The collection to which one of the JDK passes calls on, if that one synchronises. */
    private static Object within(Object o) {
        String name = o == null ? "" : o.getClass().getName();
        boolean isReverse = name.startsWith("java.util.ReverseOrderDeque");
        String field = isReverse ? "base"
            : name.endsWith("$AsLIFOQueue") ? "q"
            : name.endsWith("$CheckedEntrySet") ? "s"
            : o instanceof Map ? "m" : "c";
        boolean is = isReverse || name.matches("java.util.Collections.(AsLIFOQueue"
            + "|Unmodifiable.*(Map|Collection|Set|List)|Checked.*(Map|Collection|Set|List|Queue))");
        Object within = is ? within(sync(o, field)) : o;
        return within == o || within.getClass().getName().startsWith("java.util.concurrent.") ? within : o;
    }

    void call(boolean isBefore, Object result, Object of, Object argument, int index, Object value, int site) {
        String text = sites.get(site);
        if (text == null)
            return;
        Object o = within(of);
        synchronized (this) {
            State me = enter();
            if (me == null)
                return;
            Row row = choose(calls.get(Integer.parseInt(text)), o);
            boolean isFixed = o != of && of.getClass().getName().contains("$Unmodifiable");
            boolean isRefused = isBefore && isFixed && row != null
                && row.before.stream().anyMatch(effect -> effect.kind.equals("post"));
            if (row != null && !row.name.equals(ignored) && !isRefused)
                for (Effect effect : isBefore ? row.before : row.after)
                    record(effect, isBefore, result, o, argument, index, value, me);
            me.busy = false;
        }
    }

    void inside(Object o, Object value, int site) {
        String text = sites.get(site);
        if (text == null)
            return;
        synchronized (this) {
            State me = enter();
            if (me == null)
                return;
            Effect one = effects.get(Integer.parseInt(text));
            boolean isEach = o != null && (one.isOf("Each") || one.isOf("Field") && one.target.endsWith("true)"));
            if (!names.get(one).equals(ignored))
                for (Object each : isEach ? (Iterable<?>) o
                    : Collections.singleton(one.target.equals("All") ? common : o))
                    inside(one, each, value, me);
            me.busy = false;
        }
    }

    private void inside(Effect one, Object o, Object value, State me) {
        Object parent = one.kind.equals("part") && value == null ? me.current : value;
        if (o == null)
            return;
        if (one.kind.equals("current"))
            me.current = o;
        else if (!one.kind.equals("view") && !one.kind.equals("part")) {
            Object of = is(one.condition, value) ? resolve(o) : null;
            if (of != null && one.kind.equals("post"))
                post(wholes, of, me);
            plain(one.kind, of, me);
            if (one.kind.equals("await") && me.filled != null) {
                post(wholes, me.filled, me);
                plain("post", me.filled, me);
            }
        } else if (parent != null && parent != o)
            views.put(o, parent);
    }

    private static boolean is(String condition, Object value) {
        boolean isTrue = value instanceof Long ? (Long) value != 0 : value != null;
        switch (condition) {
            case "True": return isTrue;
            case "False": return !isTrue;
            case "Negative": return (Long) value < 0;
            default: return true;
        }
    }

    private Object resolve(Object o) {
        while (views.containsKey(o))
            o = views.get(o);
        return o;
    }

    private void record(
        Effect effect, boolean isBefore, Object result, Object o, Object argument, int index, Object value, State me) {
        boolean is = is(effect.condition, result);
        Object whole = resolve(o);
        switch (effect.kind) {
            case "load": case "store": case "rmw":
                atomic(effect, isBefore, is, variable(effect, whole, o, argument, index), me);
                return;
            case "fence":
                if (effect.releases())
                    me.fenced = me.clock.clone();
                if (effect.acquires())
                    me.clock = max(me.clock, me.loaded);
                me.clock[me.number]++;
                return;
            case "current":
                me.filled = null;
                return;
            case "view":
                if (result != o)
                    views.put(result, o);
                return;
            case "field":
                names.put(result, ((Class<?>) argument).getName() + "." + value);
                return;
            case "unlock": case "tooptimistic": case "toread": case "towrite":
                stamped(effect.kind, isBefore, result, whole, (Long) value, me);
                return;
            default:
        }
        if (!is)
            return;
        if (effect.target.equals("Thread"))
            plain(effect.kind, Thread.currentThread(), me);
        else if (effect.target.equals("All"))
            plain(effect.kind, common, me);
        else if (effect.target.equals("Receiver")) {
            if (effect.kind.equals("post") && !effect.isOfPart)
                post(wholes, whole, me);
            plain(effect.kind, whole, me);
        }
        else if (effect.target.equals("Back")) {
            // A take posts whatever room there is, because it is not known when its room will be needed.
            int most = effect.kind.equals("post") ? Integer.MAX_VALUE - 1 : 2;
            boolean isFull = o instanceof BlockingQueue && ((BlockingQueue<?>) o).remainingCapacity() <= most;
            if (o instanceof TransferQueue || isFull)
                part(effect.kind, new Part(whole, "back", false), me);
        }
        else {
            Object part = effect.target.contains("Result") ? result : argument;
            if (effect.isOf("Object"))
                plain(effect.kind, part, me);
            else if (effect.isOf("Keys") || effect.isOf("Elements"))
                post(wholes, me.filled = whole, me);
            else if (part != null)
                part(effect.kind, new Part(whole, part, effect.isOf("Element")), me);
        }
    }

    private void part(String what, Part part, State me) {
        if (what.equals("post"))
            post(parts, part, me);
        else {
            await(parts, part, me);
            await(wholes, part.whole, me);
        }
    }

    private void plain(String what, Object of, State me) {
        if (of == null)
            return;
        switch (what) {
            case "post": case "up": case "rel": post(posts, of, me); break;
            case "rrel": post(reads, of, me); break;
            case "await": case "down": case "racq": case "rtacq": await(posts, of, me); break;
            case "acq": case "tacq":
                await(posts, of, me);
                await(reads, of, me);
                views.putIfAbsent(sync(of, "sync"), of);
                break;
            case "woken": await(posts, resolve(sync(of, "this$0")), me); break;
            case "join":
                State ended = threads.get((Thread) of);
                if (!((Thread) of).isAlive() && ended != null)
                    me.clock = max(me.clock, ended.clock);
                break;
            default: // A wait releases its lock, but in these programs the next holder has an effect of its own.
        }
    }

    /** What is in a field of this name, of a lock or a condition. */
    private static Object sync(Object of, String name) {
        for (Class<?> type = of.getClass(); type != null; type = type.getSuperclass()) {
            try {
                Field field = type.getDeclaredField(name);
                field.setAccessible(true);
                return field.get(of);
            } catch (NoSuchFieldException e) {
                continue;
            } catch (ReflectiveOperationException e) {
                throw new IllegalStateException(e);
            }
        }
        return new Object();
    }

    private void stamped(String what, boolean isBefore, Object result, Object lock, long stamp, State me) {
        boolean isRead = StampedLock.isReadLockStamp(stamp), isWrite = StampedLock.isWriteLockStamp(stamp);
        if (isBefore) {
            if (isRead || stamp == 0)
                plain("rrel", lock, me);
            if (isWrite || stamp == 0)
                plain("rel", lock, me);
        } else if ((Long) result != 0)
            plain(what.equals("towrite") ? "acq" : "racq", lock, me);
    }

    private Part variable(Effect effect, Object whole, Object o, Object argument, int index) {
        if (effect.target.equals("Receiver"))
            return new Part(whole, "", false);
        // Several buffers may share their memory.
        if (index >= 0)
            return new Part(
                argument == null ? whole : argument instanceof java.nio.ByteBuffer ? common : argument, index, false);
        Object name = names.get(whole);
        if (name == null && argument.getClass().getName().startsWith("jdk.internal.foreign."))
            return new Part(common, "memory", false);
        if (name == null)
            throw new IllegalStateException("an unknown field: " + o);
        return new Part(argument, name, false);
    }

    private void atomic(Effect effect, boolean isBefore, boolean is, Part of, State me) {
        int[] there = parts.getOrDefault(of, new int[0]);
        if (effect.kind.equals("store")) {
            parts.put(of, effect.releases() ? me.clock.clone() : me.fenced);
            me.clock[me.number]++;
            return;
        }
        if (isBefore) {
            parts.put(of, max(there, effect.releases() ? me.clock : me.fenced));
            me.clock[me.number]++;
            return;
        }
        if (effect.acquires())
            me.clock = max(me.clock, there);
        else
            me.loaded = max(me.loaded, there);
    }
}
