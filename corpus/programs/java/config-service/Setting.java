/** One value, and who gave it; both under the setting's own monitor. */
final class Setting {
    private final String name;
    private String value = "";
    private String author = "";

    Setting(String name) {
        this.name = name;
    }

    String name() {
        return name;
    }

    synchronized void set(String to, String by) {
        value = to;
        author = by;
    }

    synchronized String value() {
        return value;
    }

    synchronized String author() {
        return author;
    }

    @Override
    public String toString() {
        return name + "=" + value() + " by " + author();
    }
}
