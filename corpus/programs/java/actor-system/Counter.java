import java.util.HashMap;
import java.util.Map;

/** Counts words, and sends the number of different ones when it is asked. */
final class Counter implements Actor {
    private final Map<String, Integer> counts = new HashMap<>();
    private String longest = "";
    private int total;

    @Override
    public void receive(Message message) {
        if (message instanceof Message.Word) {
            count(((Message.Word) message).text);
        } else if (message instanceof Message.Ask) {
            ((Message.Ask) message).from.tell(new Message.Answer(total, longest));
        }
    }

    private void count(String word) {
        counts.merge(word, 1, Integer::sum);
        total++;
        if (word.length() > longest.length() || word.length() == longest.length() && word.compareTo(longest) < 0) {
            longest = word;
        }
    }
}
