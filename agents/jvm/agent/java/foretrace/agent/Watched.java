package foretrace.agent;

/** The parent of the classes under watch that had only Object: it knows who its objects are. */
public class Watched {
    transient volatile Shadow foretrace$shadow;

    public Watched() {}
}
