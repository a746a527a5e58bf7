import java.io.IOException;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * Loads and verifies every class in the folders of a folder, each of which was a jar; its classes can find those of the
 * others. Prints which classes fail, and why.
 */
public class Jars {
    static List<Path> sorted(Stream<Path> paths) {
        try (paths) {
            return paths.sorted().collect(Collectors.toList());
        }
    }

    public static void main(String[] args) throws IOException {
        List<Path> jars = sorted(Files.list(Path.of(args[0])));
        int linked = 0, failed = 0;
        for (Path jar : jars) {
            List<URL> path = new ArrayList<>(List.of(jar.toUri().toURL()));
            for (Path other : jars) {
                if (other != jar)
                    path.add(other.toUri().toURL());
            }
            URL[] all = path.toArray(new URL[0]);
            try (URLClassLoader loader = new URLClassLoader(all, ClassLoader.getPlatformClassLoader())) {
                for (Path file : sorted(Files.walk(jar).filter(file -> file.toString().endsWith(".class")))) {
                    String name = jar.relativize(file).toString().replace('/', '.');
                    if (name.equals("module-info.class"))
                        continue;
                    try {
                        // Asking for its methods makes the virtual machine verify it.
                        Class.forName(name.substring(0, name.length() - 6), false, loader).getDeclaredMethods();
                        linked++;
                    } catch (Throwable e) {
                        // Which of several missing classes is named is not certain.
                        boolean isMissing = e instanceof NoClassDefFoundError || e instanceof ClassNotFoundException;
                        String message = String.valueOf(e.getMessage()).lines().findFirst().orElse("");
                        String why = isMissing ? "" : " " + message;
                        System.out.println(jar.getFileName() + " " + name + " " + e.getClass().getSimpleName() + why);
                        failed++;
                    }
                }
            }
        }
        System.err.println("linked " + linked + ", failed " + failed);
    }
}
