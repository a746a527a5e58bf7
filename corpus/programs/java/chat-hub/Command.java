/** What a user can type. */
abstract class Command {
    abstract void execute(Session session);

    static Command parse(String line) {
        int space = line.indexOf(' ');
        String verb = space < 0 ? line : line.substring(0, space);
        String rest = space < 0 ? "" : line.substring(space + 1);
        switch (verb) {
            case "say":
                return new Say(rest);
            case "go":
                return new Go(rest);
            case "tell":
                int end = rest.indexOf(' ');
                return new Tell(rest.substring(0, end), rest.substring(end + 1));
            default:
                throw new IllegalArgumentException("unknown: " + verb);
        }
    }

    private static final class Say extends Command {
        private final String text;

        Say(String text) {
            this.text = text;
        }

        @Override
        void execute(Session session) {
            session.hub().broadcast(new Message(session.user(), session.room(), text));
        }
    }

    private static final class Go extends Command {
        private final String room;

        Go(String room) {
            this.room = room;
        }

        @Override
        void execute(Session session) {
            session.go(room);
        }
    }

    private static final class Tell extends Command {
        private final String user;
        private final String text;

        Tell(String user, String text) {
            this.user = user;
            this.text = text;
        }

        @Override
        void execute(Session session) {
            session.hub().whisper(user, new Message(session.user(), "", text));
        }
    }
}
