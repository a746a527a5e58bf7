import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Collection;
import java.util.concurrent.atomic.AtomicReference;

/**
 *
 * Runs the programs of a list (`Pairs LIST [DATA [without]]`), one after another, and prints which threw something or
 * did not end. With data for the judge, also prints those of which it says the contrary of the list. With `without`,
 * each right program runs without its row, and those that are still right are printed, which is no error.
 */
public class Pairs {
    public static void main(String[] args) throws Exception {
        AtomicReference<Throwable> thrown = new AtomicReference<>();
        Thread.setDefaultUncaughtExceptionHandler((thread, e) -> thrown.set(e));
        int wrong = 0;
        Class<?> judge = args.length > 1 ? Class.forName("foretrace.agent.Judge") : null;
        if (judge != null)
            judge.getMethod("begin", String.class).invoke(null, args[1]);
        for (String line : Files.readAllLines(Path.of(args[0]))) {
            String name = line.split(" ")[0];
            if (args.length > 2) {
                if (line.split(" ")[1].equals("racy"))
                    continue;
                judge.getMethod("without", String.class).invoke(null, line.split(" ", 3)[2]);
            }
            Thread thread = new Thread(() -> {
                try {
                    Class.forName(name).getMethod("main", String[].class).invoke(null, (Object) new String[0]);
                } catch (ReflectiveOperationException e) {
                    thrown.set(e.getCause() == null ? e : e.getCause());
                }
            });
            thread.setDaemon(true);
            thread.start();
            thread.join(20_000);
            if (thread.isAlive() || thrown.get() != null) {
                System.out.println(line + ": " + (thread.isAlive() ? "does not end" : thrown.getAndSet(null)));
                wrong++;
            }
        }
        if (judge != null) {
            Collection<?> racy = (Collection<?>) judge.getMethod("end").invoke(null);
            for (String line : Files.readAllLines(Path.of(args[0]))) {
                String[] words = line.split(" ");
                boolean isRacy = racy.contains(words[0]);
                if (args.length > 2 ? words[1].equals("safe") && !isRacy : isRacy != words[1].equals("racy")) {
                    System.out.println(line + ": the judge says the contrary");
                    wrong++;
                }
            }
        }
        System.exit(wrong == 0 || args.length > 2 ? 0 : 1);
    }
}
