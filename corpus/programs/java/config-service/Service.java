import foretrace.Monitor;

/** The front of the store. */
final class Service {
    private final Store store;
    private final Notifier notifier;

    Service(Store store, Notifier notifier) {
        this.store = store;
        this.notifier = notifier;
    }

    /** Before anybody else is there. */
    void setUp(Profile profile) {
        for (Profile.Item item : profile.items()) {
            store.write(item.name(), item.value(), "setup");
        }
    }

    /** Meant to be one step for everybody else; but each setting is locked by itself, so two profiles can be mixed. */
    void apply(String author, Profile profile) {
        Monitor.begin("apply");
        try {
            for (Profile.Item item : profile.items()) {
                store.write(item.name(), item.value(), author);
            }
        } finally {
            Monitor.end("apply");
        }
        notifier.tell(author);
    }
}
