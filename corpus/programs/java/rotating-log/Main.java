import java.util.ArrayList;
import java.util.List;

/**
 * Three services write into one log, which goes to segments of limited size; a health page looks at how much there is.
 */
public class Main {
    static final class Service extends Thread {
        private final Log log;
        private final String[] events;

        Service(Log log, String name, String... events) {
            super(name);
            this.log = log;
            this.events = events;
        }

        @Override
        public void run() {
            Level[] levels = Level.values();
            for (int i = 0; i < events.length; i++) {
                log.write(levels[i % levels.length], getName() + ": " + events[i]);
            }
        }
    }

    /** Looks now and then, and remembers the most it saw. It holds no lock and orders nothing. */
    static final class HealthPage extends Thread {
        private final Archive archive;
        private long most;

        HealthPage(Archive archive) {
            super("health");
            this.archive = archive;
        }

        @Override
        public void run() {
            try {
                for (int i = 0; i < 3; i++) {
                    most = Math.max(most, archive.letters());
                    Thread.sleep(3);
                }
            } catch (InterruptedException e) {
                interrupt();
            }
        }

        boolean plausible() {
            return most >= 0 && most < 10_000;
        }
    }

    public static void main(String[] args) throws Exception {
        Archive archive = new Archive(60, new Layout.Numbered(new Layout.Tagged()));
        Log log = new Log(archive, Level.NOTE);
        HealthPage health = new HealthPage(archive);
        List<Service> services = new ArrayList<>();
        services.add(new Service(log, "mail", "up", "12 waiting", "sent", "idle"));
        services.add(new Service(log, "web", "up", "index asked for", "slow answer", "timed out"));
        services.add(new Service(log, "disk", "up", "nearly full", "cleaned"));
        health.start();
        log.open();
        for (Service service : services) {
            service.start();
        }
        for (Service service : services) {
            service.join();
        }
        log.close();
        health.join();
        System.out.println("segments " + (archive.segments() > 1 ? "several" : "one")
            + ", lines " + archive.lines() + ", dropped " + log.dropped());
        System.out.println((health.plausible() ? "healthy" : "ill") + ", " + archive.newest().substring(0, 4));
    }
}
