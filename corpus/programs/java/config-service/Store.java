/** All settings. The array is filled by the constructor and never changes; its elements have their own locks. */
final class Store {
    private final Setting[] settings;

    Store(Schema schema) {
        settings = new Setting[schema.names().size()];
        int at = 0;
        for (String name : schema.names()) {
            settings[at++] = new Setting(name);
        }
    }

    private Setting find(String name) {
        for (Setting setting : settings) {
            if (setting.name().equals(name)) {
                return setting;
            }
        }
        throw new IllegalArgumentException("no setting " + name);
    }

    void write(String name, String value, String author) {
        find(name).set(value, author);
    }

    String read(String name) {
        return find(name).value();
    }

    String describe(String name) {
        return find(name).toString();
    }
}
