import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;

/** A configuration is published by an opaque write, which orders nothing; its final field may be read all the same. */
class Config {
    final int limit;

    Config(int limit) {
        this.limit = limit;
    }

    int limit() {
        return limit;
    }
}

public class Main {
    static Config current;
    static final VarHandle CURRENT;

    static {
        try {
            CURRENT = MethodHandles.lookup().findStaticVarHandle(Main.class, "current", Config.class);
        } catch (ReflectiveOperationException e) {
            throw new ExceptionInInitializerError(e);
        }
    }

    static final class Reader extends Thread {
        int seen;

        @Override
        public void run() {
            Config config = (Config) CURRENT.getOpaque();
            while (config == null) {
                try {
                    Thread.sleep(1);
                } catch (InterruptedException e) {
                    return;
                }
                config = (Config) CURRENT.getOpaque();
            }
            seen = config.limit();
        }
    }

    static void publish() {
        CURRENT.setOpaque(new Config(17));
    }

    public static void main(String[] args) throws Exception {
        Reader reader = new Reader();
        Thread writer = new Thread(Main::publish);
        reader.start();
        writer.start();
        writer.join();
        reader.join();
        System.out.println(reader.seen == 17 || reader.seen == 0 ? "configured" : "broken");
    }
}
