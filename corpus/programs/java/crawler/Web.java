import java.util.HashMap;
import java.util.Map;

/** The pages. Built before the workers start, and only read since. */
final class Web {
    static final class Page {
        final String text;
        final String[] links;

        Page(String text, String[] links) {
            this.text = text;
            this.links = links;
        }
    }

    /** Thrown for an address that leads nowhere. */
    static final class NotFound extends Exception {
        private static final long serialVersionUID = 1L;

        NotFound(String address) {
            super(address);
        }
    }

    private final Map<String, Page> pages = new HashMap<>();

    Web page(String address, String text, String... links) {
        pages.put(address, new Page(text, links));
        return this;
    }

    Page fetch(String address) throws NotFound {
        Page page = pages.get(address);
        if (page == null) {
            throw new NotFound(address);
        }
        return page;
    }
}
