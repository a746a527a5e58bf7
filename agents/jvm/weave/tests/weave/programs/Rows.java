import java.lang.invoke.MethodType;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/**
 * Prints rows of a table of calls (`Rows TABLE`) that name a method which their class, its super classes and interfaces
 * do not have in this JDK; in the end, how many rows were right.
 */
public class Rows {
    static List<Method> methods(Class<?> type) {
        List<Method> all = new ArrayList<>(Arrays.asList(type.getDeclaredMethods()));
        for (Class<?> face : type.getInterfaces())
            all.addAll(methods(face));
        if (type.getSuperclass() != null)
            all.addAll(methods(type.getSuperclass()));
        return all;
    }

    static boolean is(Method method, boolean isStatic, String name, String type) {
        if (!method.getName().equals(name) || Modifier.isStatic(method.getModifiers()) != isStatic)
            return false;
        // A method of any type has an array of objects.
        if (type.startsWith("*"))
            return method.isVarArgs();
        MethodType own = MethodType.methodType(method.getReturnType(), method.getParameterTypes());
        return own.toMethodDescriptorString().equals(type);
    }

    public static void main(String[] args) throws Exception {
        int wrong = 0, right = 0;
        // A line that begins with spaces continues the one before it; a backslash continues a word.
        String table = Files.readString(Path.of(args[0])).replace("\\\n    ", "").replace("\n    ", " ");
        for (String line : table.split("\n")) {
            List<String> words = new ArrayList<>(Arrays.asList(line.split(" ")));
            // Rows with `~` are for several classes, of which not all need to have the method.
            if (line.isEmpty() || line.startsWith("#") || line.startsWith("~"))
                continue;
            String last = words.get(words.size() - 1);
            if (last.matches("[0-9]+")) {
                if (Integer.parseInt(last) > Runtime.version().feature())
                    continue;
                words.remove(words.size() - 1);
            }
            boolean isStatic = words.get(0).equals("static");
            if (isStatic || words.get(0).equals("="))
                words.remove(0);
            try {
                if (line.startsWith("= ")) {
                    for (String name : words)
                        Class.forName(name.replace('/', '.'));
                    continue;
                }
                if (words.get(0).endsWith("*"))
                    continue;
                Class<?> type = Class.forName(words.get(0).replace('/', '.'));
                if (methods(type).stream().noneMatch(method -> is(method, isStatic, words.get(1), words.get(2))))
                    throw new NoSuchMethodException();
                right++;
            } catch (ReflectiveOperationException e) {
                System.out.println(line + ": " + e);
                wrong++;
            }
        }
        System.out.println(right);
        System.exit(wrong == 0 ? 0 : 1);
    }
}
