import java.util.ArrayList;
import java.util.Collections;
import java.util.List;

/** Settings that belong together. */
final class Profile {
    /** One of them. */
    static final class Item {
        private final String name;
        private final String value;

        Item(String name, String value) {
            this.name = name;
            this.value = value;
        }

        String name() {
            return name;
        }

        String value() {
            return value;
        }
    }

    private final List<Item> items;

    private Profile(List<Item> items) {
        this.items = Collections.unmodifiableList(items);
    }

    /** From a text such as `host=north port=80`. */
    static Profile parse(Schema schema, String text) {
        List<Item> items = new ArrayList<>();
        for (String word : text.split(" ")) {
            int equals = word.indexOf('=');
            if (equals < 1) {
                throw new IllegalArgumentException("no value in " + word);
            }
            Item item = new Item(word.substring(0, equals), word.substring(equals + 1));
            schema.check(item.name(), item.value());
            items.add(item);
        }
        return new Profile(items);
    }

    List<Item> items() {
        return items;
    }
}
