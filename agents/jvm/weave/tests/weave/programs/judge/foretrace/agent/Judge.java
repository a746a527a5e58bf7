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

/** Says which programs have a race for their `x`, by happens-before, from what the hooks tell: the simplest that takes the tables at their word. One lock for all; slow. */
public final class Judge {
    /** What one thread knows. */
    static final class State {
        final int number;
        int[] clock;
        /** What a release fence gave to later stores, and what relaxed loads left for a later acquire fence. */
        int[] fenced = {}, loaded = {};
        boolean busy;
        /** What was called last. */
        Object current;
        /** What is put into, as a whole, at this time. */
        Object filled;
        final ArrayDeque<Object> monitors = new ArrayDeque<>();

        State(int number, int[] clock) {
            this.number = number;
            this.clock = Arrays.copyOf(clock, Math.max(clock.length, number + 1));
            this.clock[number] = 1;
        }
    }

    /** What is told once, as the tables say it. */
    static final class Told {
        final String what, order, of, value, when;
        /** The same is told of a part. */
        boolean isOfPart;

        Told(String text) {
            String[] parts = text.split(" ");
            what = parts[0];
            order = parts[1];
            of = parts[2];
            value = parts[3];
            when = parts[4];
        }

        boolean isOf(String begin) { return of.startsWith(begin); }
        boolean acquires() { return !order.equals("relaxed") && !order.equals("release"); }
        boolean releases() { return !order.equals("relaxed") && !order.equals("acquire"); }
    }

    static final class Row {
        String type, name;
        final List<Told> before = new ArrayList<>(), after = new ArrayList<>();
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

        @Override public int hashCode() { return System.identityHashCode(whole) + (isSame ? System.identityHashCode(part) : part.hashCode()); }
        @Override public boolean equals(Object other) {
            return other instanceof Part && ((Part) other).whole == whole && (isSame ? ((Part) other).part == part : part.equals(((Part) other).part));
        }
    }

    static final class Variable {
        int[] reads = {}, writes = {};
    }

    private final Map<Integer, List<Row>> calls = new HashMap<>();
    private final Map<Integer, Told> told = new HashMap<>();
    private final Map<Integer, String> sites = new HashMap<>();
    /** `wholes`: who awaits a part comes after these, too. */
    private final Map<Object, int[]> posts = new IdentityHashMap<>(), reads = new IdentityHashMap<>(), wholes = new IdentityHashMap<>();
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
                told.put(number, new Told(parts[3]));
                names.put(told.get(number), parts[2]);
            } else {
                Row row = new Row();
                row.type = parts[2].split(" ")[0].replace('/', '.');
                row.name = parts[2];
                for (int k = 3; k < parts.length; k++)
                    (parts[k].startsWith("<") ? row.before : row.after).add(new Told(parts[k].substring(1)));
                for (Told one : row.before)
                    one.isOfPart = row.before.stream().anyMatch(other -> other.isOf("Key") || other.isOf("Element"));
                calls.computeIfAbsent(number, n -> new ArrayList<>()).add(row);
            }
        }
    }

    /** From now on. */
    public static void begin(String data) throws IOException {
        Hooks.judge = new Judge(Path.of(data));
    }

    /** From now on, a row is not there. */
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
            if (isPrefix ? best == null && o.getClass().getName().startsWith(row.type.substring(0, row.type.length() - 1)) : isOf(o.getClass(), row.type)) {
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

    /** What a collection of the JDK's passes calls on to, if that is one that synchronises. */
    private static Object within(Object o) {
        String name = o == null ? "" : o.getClass().getName();
        String field = name.startsWith("java.util.ReverseOrderDeque") ? "base" : name.endsWith("$AsLIFOQueue") ? "q" : name.endsWith("$CheckedEntrySet") ? "s" : o instanceof Map ? "m" : "c";
        boolean is = name.startsWith("java.util.ReverseOrderDeque") || name.matches("java.util.Collections.(AsLIFOQueue|Unmodifiable.*(Map|Collection|Set|List)|Checked.*(Map|Collection|Set|List|Queue))");
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
            boolean isRefused = isBefore && o != of && of.getClass().getName().contains("$Unmodifiable") && row != null && row.before.stream().anyMatch(told -> told.what.equals("post"));
            if (row != null && !row.name.equals(ignored) && !isRefused)
                for (Told told : isBefore ? row.before : row.after)
                    tell(told, isBefore, result, o, argument, index, value, me);
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
            Told one = told.get(Integer.parseInt(text));
            boolean isEach = o != null && (one.isOf("Each") || one.isOf("Field") && one.of.endsWith("true)"));
            if (!names.get(one).equals(ignored))
                for (Object each : isEach ? (Iterable<?>) o : Collections.singleton(one.of.equals("All") ? common : o))
                    inside(one, each, value, me);
            me.busy = false;
        }
    }

    private void inside(Told one, Object o, Object value, State me) {
        Object parent = one.what.equals("part") && value == null ? me.current : value;
        if (o == null)
            return;
        if (one.what.equals("current"))
            me.current = o;
        else if (!one.what.equals("view") && !one.what.equals("part")) {
            Object of = is(one.when, value) ? resolve(o) : null;
            if (of != null && one.what.equals("post"))
                post(wholes, of, me);
            plain(one.what, of, me);
            if (one.what.equals("await") && me.filled != null) {
                post(wholes, me.filled, me);
                plain("post", me.filled, me);
            }
        } else if (parent != null && parent != o)
            views.put(o, parent);
    }

    private static boolean is(String when, Object value) {
        boolean isTrue = value instanceof Long ? (Long) value != 0 : value != null;
        switch (when) {
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

    private void tell(Told told, boolean isBefore, Object result, Object o, Object argument, int index, Object value, State me) {
        boolean is = is(told.when, result);
        Object whole = resolve(o);
        switch (told.what) {
            case "load": case "store": case "rmw":
                atomic(told, isBefore, is, variable(told, whole, o, argument, index), me);
                return;
            case "fence":
                if (told.releases())
                    me.fenced = me.clock.clone();
                if (told.acquires())
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
                stamped(told.what, isBefore, result, whole, (Long) value, me);
                return;
            default:
        }
        if (!is)
            return;
        if (told.of.equals("Thread"))
            plain(told.what, Thread.currentThread(), me);
        else if (told.of.equals("All"))
            plain(told.what, common, me);
        else if (told.of.equals("Receiver")) {
            if (told.what.equals("post") && !told.isOfPart)
                post(wholes, whole, me);
            plain(told.what, whole, me);
        }
        else if (told.of.equals("Back")) {
            // The least room that counts as full is none. When the room that somebody makes will be needed, nobody knows.
            int most = told.what.equals("post") ? Integer.MAX_VALUE - 1 : 2;
            if (o instanceof TransferQueue || o instanceof BlockingQueue && ((BlockingQueue<?>) o).remainingCapacity() <= most)
                part(told.what, new Part(whole, "back", false), me);
        }
        else {
            Object part = told.of.contains("Result") ? result : argument;
            if (told.isOf("Object"))
                plain(told.what, part, me);
            else if (told.isOf("Keys") || told.isOf("Elements"))
                post(wholes, me.filled = whole, me);
            else if (part != null)
                part(told.what, new Part(whole, part, told.isOf("Element")), me);
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
            default: // A wait gives its lock back, but who takes it next has told so himself in these programs.
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

    private Part variable(Told told, Object whole, Object o, Object argument, int index) {
        if (told.of.equals("Receiver"))
            return new Part(whole, "", false);
        // Several buffers may be of the same memory.
        if (index >= 0)
            return new Part(argument == null ? whole : argument instanceof java.nio.ByteBuffer ? common : argument, index, false);
        Object name = names.get(whole);
        if (name == null && argument.getClass().getName().startsWith("jdk.internal.foreign."))
            return new Part(common, "memory", false);
        if (name == null)
            throw new IllegalStateException("an unknown field: " + o);
        return new Part(argument, name, false);
    }

    private void atomic(Told told, boolean isBefore, boolean is, Part of, State me) {
        int[] there = parts.getOrDefault(of, new int[0]);
        if (told.what.equals("store")) {
            parts.put(of, told.releases() ? me.clock.clone() : me.fenced);
            me.clock[me.number]++;
            return;
        }
        if (isBefore) {
            parts.put(of, max(there, told.releases() ? me.clock : me.fenced));
            me.clock[me.number]++;
            return;
        }
        if (told.acquires())
            me.clock = max(me.clock, there);
        else
            me.loaded = max(me.loaded, there);
    }
}
