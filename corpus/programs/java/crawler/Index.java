import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;

/** Which word is on which page, and a note on every page. */
final class Index {
    /** Plain fields: written by one worker before it is put into the queue, read by main after the end. */
    static final class Note {
        final String address;
        int words;
        int links;

        Note(String address) {
            this.address = address;
        }
    }

    private final Map<String, Set<String>> words = new ConcurrentHashMap<>();
    private final ConcurrentLinkedQueue<Note> notes = new ConcurrentLinkedQueue<>();
    private final Set<String> lost = ConcurrentHashMap.newKeySet();

    void add(String address, String text, int links) {
        Note note = new Note(address);
        for (String word : text.split(" ")) {
            words.computeIfAbsent(word, key -> ConcurrentHashMap.newKeySet()).add(address);
            note.words++;
        }
        note.links = links;
        notes.add(note);
    }

    void lose(String address) {
        lost.add(address);
    }

    int count(String word) {
        return words.getOrDefault(word, Set.of()).size();
    }

    int pages() {
        Set<String> addresses = new TreeSet<>();
        for (Note note : notes) {
            if (note.words > 0) {
                addresses.add(note.address);
            }
        }
        return addresses.size();
    }

    int links() {
        int sum = 0;
        for (Note note : notes) {
            sum += note.links;
        }
        return sum;
    }

    int lost() {
        return lost.size();
    }
}
