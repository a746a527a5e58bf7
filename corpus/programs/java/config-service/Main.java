/** Two administrators switch a service to another place, each by a profile of several settings; watchers hear of it. */
public class Main {
    static final class Administrator extends Thread {
        private final Service service;
        private final Profile profile;

        Administrator(String name, Service service, Profile profile) {
            super(name);
            this.service = service;
            this.profile = profile;
        }

        @Override
        public void run() {
            service.apply(getName(), profile);
        }
    }

    public static void main(String[] args) throws Exception {
        Schema schema = new Schema()
            .define("host", Kind.TEXT)
            .define("port", Kind.NUMBER)
            .define("tls", Kind.SWITCH);
        Store store = new Store(schema);
        Notifier notifier = new Notifier();
        Service service = new Service(store, notifier);
        service.setUp(Profile.parse(schema, "host=localhost port=80 tls=off"));
        Administrator[] administrators = {
            new Administrator("ada", service, Profile.parse(schema, "host=north port=8080")),
            new Administrator("bob", service, Profile.parse(schema, "host=south port=9090")),
        };
        notifier.start();
        for (Administrator administrator : administrators) {
            administrator.start();
        }
        for (Administrator administrator : administrators) {
            administrator.join();
        }
        notifier.close();
        boolean moved = !store.read("host").equals("localhost") && !store.read("port").equals("80");
        System.out.println((moved ? "moved" : "stayed") + ", tls " + store.read("tls") + ", heard " + notifier.heard());
    }
}
