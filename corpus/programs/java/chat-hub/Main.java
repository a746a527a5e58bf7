import java.util.ArrayList;
import java.util.List;

/** Users post from threads of their own; one leaves late, when the others have said what they had to say. */
public class Main {
    /** Posts a script. */
    static final class Poster extends Thread {
        private final Session session;
        private final String[] script;
        private int posted;

        Poster(Session session, String... script) {
            super("poster " + session.user());
            this.session = session;
            this.script = script;
        }

        @Override
        public void run() {
            for (String line : script) {
                Command command = Command.parse(line);
                command.execute(session);
                posted++;
            }
        }

        int posted() {
            return posted;
        }
    }

    /** Takes its time, and leaves. */
    static final class Leaver extends Thread {
        private final Session session;

        Leaver(Session session) {
            super("leaver " + session.user());
            this.session = session;
        }

        @Override
        public void run() {
            try {
                Thread.sleep(80); // the talk is over by then
            } catch (InterruptedException e) {
                return;
            }
            session.leave();
        }
    }

    public static void main(String[] args) throws Exception {
        Archive archive = new Archive();
        archive.start();
        Hub hub = new Hub(archive);
        Session ada = new Session("ada", hub);
        Session bob = new Session("bob", hub);
        Session cyd = new Session("cyd", hub);
        hub.join(ada, "lobby");
        hub.join(bob, "lobby");
        hub.join(cyd, "lobby");
        hub.join(cyd, "attic");
        Poster one = new Poster(ada, "say hello all", "tell bob psst", "say bye");
        Poster two = new Poster(cyd, "say hi", "go attic", "say anybody here?");
        Leaver three = new Leaver(bob);
        one.start();
        two.start();
        three.start();
        one.join();
        two.join();
        three.join();
        archive.close();
        archive.join();
        List<String> heard = new ArrayList<>();
        for (Session session : new Session[] {ada, bob, cyd}) {
            heard.add(session.user() + " " + session.heard());
        }
        System.out.println("posted " + (one.posted() + two.posted()) + ", heard: " + String.join(", ", heard));
        System.out.println("archived " + archive.kept() + ", in the lobby " + hub.count("lobby"));
    }
}
