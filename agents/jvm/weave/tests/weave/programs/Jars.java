import java.io.IOException;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** Loads and verifies every class in the folders of a folder, each of which was a jar; those of the others are there, too. Tells which fail, and how. */
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
            try (URLClassLoader loader = new URLClassLoader(path.toArray(new URL[0]), ClassLoader.getPlatformClassLoader())) {
                for (Path file : sorted(Files.walk(jar).filter(file -> file.toString().endsWith(".class")))) {
                    String name = jar.relativize(file).toString().replace('/', '.');
                    if (name.equals("module-info.class"))
                        continue;
                    try {
                        // Asking for its methods makes the virtual machine verify it.
                        Class.forName(name.substring(0, name.length() - 6), false, loader).getDeclaredMethods();
                        linked++;
                    } catch (Throwable e) {
                        // What is missing is named in no certain order.
                        String why = e instanceof NoClassDefFoundError || e instanceof ClassNotFoundException ? "" : " " + String.valueOf(e.getMessage()).lines().findFirst().orElse("");
                        System.out.println(jar.getFileName() + " " + name + " " + e.getClass().getSimpleName() + why);
                        failed++;
                    }
                }
            }
        }
        System.err.println("linked " + linked + ", failed " + failed);
    }
}
