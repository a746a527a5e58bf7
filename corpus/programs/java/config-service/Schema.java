import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Set;

/** Which settings there are. Complete before any thread starts. */
final class Schema {
    private final Map<String, Kind> kinds = new LinkedHashMap<>();

    Schema define(String name, Kind kind) {
        if (kinds.put(name, kind) != null) {
            throw new IllegalArgumentException(name + " is defined twice");
        }
        return this;
    }

    Set<String> names() {
        return kinds.keySet();
    }

    void check(String name, String value) {
        Kind kind = kinds.get(name);
        if (kind == null) {
            throw new IllegalArgumentException("no setting " + name);
        }
        if (!kind.allows(value)) {
            throw new IllegalArgumentException(value + " is no " + kind + " for " + name);
        }
    }
}
