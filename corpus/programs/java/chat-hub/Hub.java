import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** Who is in which room. */
final class Hub {
    private final Map<String, List<Session>> rooms = new HashMap<>();
    private final Archive archive;

    Hub(Archive archive) {
        this.archive = archive;
    }

    synchronized void join(Session session, String room) {
        rooms.computeIfAbsent(room, name -> new ArrayList<>()).add(session);
    }

    synchronized void broadcast(Message message) {
        for (Session session : members(message.room())) {
            session.deliver(message);
        }
        archive.keep(message);
    }

    synchronized void whisper(String user, Message message) {
        for (List<Session> room : rooms.values()) {
            for (Session session : room) {
                if (session.user().equals(user)) {
                    session.deliver(message);
                    return;
                }
            }
        }
    }

    synchronized void remove(Session session) {
        for (List<Session> room : rooms.values()) {
            room.remove(session);
        }
    }

    synchronized int count(String room) {
        return members(room).size();
    }

    private List<Session> members(String room) {
        return rooms.getOrDefault(room, List.of());
    }
}
