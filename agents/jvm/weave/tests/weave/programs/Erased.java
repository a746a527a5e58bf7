import java.lang.invoke.MethodType;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;

/**
 * Tells which methods of the classes that a table of calls names (`Erased TABLE`) have no row, though there is one of a method that has their name and as many arguments, and is of their class or one above: most often the
 * same method, whose arguments or result are of other classes there (`DelayQueue.put(Delayed)`).
 */
public class Erased {
    /** Of a row: the class that has it, and the method's type. */
    static final Map<String, List<String[]>> rows = new HashMap<>();
    static final Set<String> classes = new TreeSet<>(), plain = new HashSet<>();

    static void read(String line) {
        List<String> words = new ArrayList<>(List.of(line.split(" ")));
        words.removeIf(word -> word.equals("static") || word.matches("[0-9]+"));
        if (words.get(0).endsWith("=")) {
            (words.get(0).equals("=") ? classes : plain).addAll(words.subList(1, words.size()));
            return;
        }
        classes.add(words.get(0));
        rows.computeIfAbsent(words.get(1), name -> new ArrayList<>()).add(new String[] {words.get(0), words.get(2)});
    }

    static void above(Class<?> type, Set<String> names) {
        if (type != null && names.add(type.getName().replace('.', '/'))) {
            above(type.getSuperclass(), names);
            for (Class<?> face : type.getInterfaces())
                above(face, names);
        }
    }

    static boolean isOverlooked(Method method, Set<String> types) {
        String type = MethodType.methodType(method.getReturnType(), method.getParameterTypes()).toMethodDescriptorString();
        boolean isNear = false;
        for (String[] row : rows.getOrDefault(method.getName(), List.of())) {
            if (row[1].equals(type) || row[1].startsWith("*"))
                return false;
            int count = MethodType.fromMethodDescriptorString(row[1], null).parameterCount();
            isNear |= types.contains(row[0]) && count == method.getParameterCount();
        }
        return isNear;
    }

    public static void main(String[] args) throws Exception {
        for (String line : Files.readAllLines(Path.of(args[0])))
            if (!line.isEmpty() && !line.startsWith("#"))
                read(line);
        for (String name : classes) {
            Class<?> type;
            try {
                type = Class.forName(name.replace('/', '.'));
            } catch (ClassNotFoundException e) {
                // Of another release, or the beginning of many.
                continue;
            }
            // Methods of others are called as those of the interfaces that they are of.
            if (!Modifier.isPublic(type.getModifiers()))
                continue;
            Set<String> types = new HashSet<>();
            above(type, types);
            if (plain.contains(name))
                types.add("~");
            for (Method method : type.getDeclaredMethods()) {
                boolean isCalled = Modifier.isPublic(method.getModifiers()) || Modifier.isProtected(method.getModifiers());
                if (isCalled && !method.isSynthetic() && isOverlooked(method, types))
                    System.out.println(name + " " + method.getName() + " " + MethodType.methodType(method.getReturnType(), method.getParameterTypes()).toMethodDescriptorString());
            }
        }
    }
}
