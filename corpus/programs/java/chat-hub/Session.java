/** One user's end. What it hears is under its own monitor. */
final class Session {
    private final String user;
    private final Hub hub;
    private final Message[] inbox = new Message[16];
    private int heard;
    private boolean left;
    private volatile String room = "lobby"; // set by the user's own thread, read by anybody

    Session(String user, Hub hub) {
        this.user = user;
        this.hub = hub;
    }

    String user() {
        return user;
    }

    Hub hub() {
        return hub;
    }

    String room() {
        return room;
    }

    void go(String to) {
        room = to;
    }

    /** Called by the hub while it holds its own monitor. */
    synchronized void deliver(Message message) {
        if (!left && heard < inbox.length) {
            inbox[heard++] = message;
        }
    }

    /** The mistake: the hub is called while this session's monitor is held, the other way round than in a broadcast. */
    synchronized void leave() {
        left = true;
        hub.remove(this);
    }

    synchronized int heard() {
        return heard;
    }
}
