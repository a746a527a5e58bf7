import java.util.Objects;

/** An address, and how many clicks it is away. */
final class Link {
    private final String address;
    private final int depth;

    Link(String address, int depth) {
        this.address = Objects.requireNonNull(address);
        this.depth = depth;
    }

    String address() {
        return address;
    }

    int depth() {
        return depth;
    }

    Link to(String next) {
        return new Link(next, depth + 1);
    }

    @Override
    public boolean equals(Object other) {
        return other instanceof Link && ((Link) other).address.equals(address);
    }

    @Override
    public int hashCode() {
        return address.hashCode();
    }

    @Override
    public String toString() {
        return address + " (" + depth + ")";
    }
}
