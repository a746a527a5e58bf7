import java.util.List;

/** Two feeders send lines to a splitter, which sends words to counters; a collector asks them in the end. */
public class Main {
    /** A thread outside of the system. */
    static final class Feeder extends Thread {
        private final Ref target;
        private final String[] lines;

        Feeder(Ref target, String... lines) {
            this.target = target;
            this.lines = lines;
        }

        @Override
        public void run() {
            for (String line : lines) {
                target.tell(new Message.Line(line));
            }
        }
    }

    public static void main(String[] args) throws Exception {
        ActorSystem system = new ActorSystem(3);
        Counter early = new Counter();
        Counter late = new Counter();
        Ref first = system.start("a-m", early);
        Ref second = system.start("n-z", late);
        Splitter splitter = new Splitter(first, second);
        Ref entry = system.start("splitter", splitter);
        Feeder one = new Feeder(entry, "the quick brown fox", "jumps over", "the lazy dog");
        Feeder two = new Feeder(entry, "pack my box", "with five dozen", "liquor jugs", "bad line: 1234");
        one.start();
        two.start();
        one.join();
        two.join();
        system.awaitQuiet();
        Collector collector = new Collector(2);
        Ref result = system.start("collector", collector);
        first.tell(new Message.Ask(result));
        second.tell(new Message.Ask(result));
        system.awaitQuiet();
        boolean ended = system.stop();
        System.out.println("words " + collector.sum() + " longest " + collector.longest()
            + " failures " + splitter.failures());
        System.out.println((ended ? "stopped" : "running") + (system.reported() > 0 ? "" : ", silent")
            + ", " + List.of(early, late).size() + " counters");
    }
}
