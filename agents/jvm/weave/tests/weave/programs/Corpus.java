import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import javax.tools.ToolProvider;

/**
 *
 * `compile RELEASE API OUT FOLDER…` compiles the programs of folders, each into a folder of its own; `link OUT` loads
 * and verifies all their classes.
 */
public class Corpus {
    static List<Path> files(Path folder, String ending) {
        try (Stream<Path> all = Files.walk(folder)) {
            return all.filter(file -> file.toString().endsWith(ending)).sorted().collect(Collectors.toList());
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    static int compile(String[] args) {
        int wrong = 0;
        for (int k = 4; k < args.length; k++) {
            Path folder = Path.of(args[k]);
            String out = Path.of(args[3], folder.getFileName().toString()).toString();
            List<String> options = new ArrayList<>(
                List.of("--release", args[1], "-g", "-Xlint:all", "-d", out, args[2]));
            files(folder, ".java").forEach(file -> options.add(file.toString()));
            String[] all = options.toArray(new String[0]);
            wrong += ToolProvider.getSystemJavaCompiler().run(null, System.err, System.err, all) == 0 ? 0 : 1;
        }
        return wrong;
    }

    static int link(Path out) throws IOException {
        int wrong = 0, linked = 0;
        try (Stream<Path> programs = Files.list(out)) {
            for (Path program : programs.sorted().collect(Collectors.toList())) {
                URL[] path = { program.toUri().toURL() };
                try (URLClassLoader loader = new URLClassLoader(path, ClassLoader.getPlatformClassLoader())) {
                    for (Path file : files(program, ".class")) {
                        String name = program.relativize(file).toString().replace('/', '.');
                        try {
                            // Asking for its methods makes the virtual machine verify it.
                            Class.forName(name.substring(0, name.length() - 6), false, loader).getDeclaredMethods();
                            linked++;
                        } catch (Throwable e) {
                            System.err.println(file + ": " + e);
                            wrong++;
                        }
                    }
                }
            }
        }
        System.out.println(linked);
        return wrong;
    }

    public static void main(String[] args) throws IOException {
        System.exit((args[0].equals("compile") ? compile(args) : link(Path.of(args[1]))) == 0 ? 0 : 1);
    }
}
