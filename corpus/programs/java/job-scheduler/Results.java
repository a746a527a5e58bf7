import java.util.HashMap;
import java.util.Map;

/** What came out. */
final class Results {
    private final Map<String, Integer> values = new HashMap<>();
    private int failures;

    synchronized void store(String name, int value) {
        values.put(name, value);
    }

    synchronized void failed() {
        failures++;
    }

    synchronized int value(String name) {
        return values.getOrDefault(name, -1);
    }

    synchronized int failures() {
        return failures;
    }
}
