/** All that others have of an actor. */
final class Ref {
    private final String name;
    private final Cell cell;

    Ref(String name, Cell cell) {
        this.name = name;
        this.cell = cell;
    }

    void tell(Message message) {
        cell.tell(message);
    }

    @Override
    public String toString() {
        return name;
    }
}
