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
 *
 * Prints methods that may have been overlooked in a table of calls (`Erased TABLE`): methods without a row of classes
 * that the table names, if there is a row of a method with their name and number of arguments in their class or
 * above. Most often these are one method, with other classes in its type (`DelayQueue.put(Delayed)`).
 */
public class Erased {
    /** Rows by the method's name: the class, and the method's type. */
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

    static String type(Method method) {
        return MethodType.methodType(method.getReturnType(), method.getParameterTypes()).toMethodDescriptorString();
    }

    static boolean isOverlooked(Method method, Set<String> types) {
        String type = type(method);
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
        // A line that begins with spaces continues the one before it; a backslash continues a word.
        String table = Files.readString(Path.of(args[0])).replace("\\\n    ", "").replace("\n    ", " ");
        for (String line : table.split("\n"))
            if (!line.isEmpty() && !line.startsWith("#"))
                read(line);
        for (String name : classes) {
            Class<?> type;
            try {
                type = Class.forName(name.replace('/', '.'));
            } catch (ClassNotFoundException e) {
                // The class is of another release, or the name is a prefix.
                continue;
            }
            // Methods of classes that are not public are called through their interfaces.
            if (!Modifier.isPublic(type.getModifiers()))
                continue;
            Set<String> types = new HashSet<>();
            above(type, types);
            if (plain.contains(name))
                types.add("~");
            for (Method method : type.getDeclaredMethods()) {
                int flags = method.getModifiers();
                boolean isCalled = Modifier.isPublic(flags) || Modifier.isProtected(flags);
                if (isCalled && !method.isSynthetic() && isOverlooked(method, types))
                    System.out.println(name + " " + method.getName() + " " + type(method));
            }
        }
    }
}
