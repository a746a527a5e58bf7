package foretrace.agent;

/** The parent of objects under watch. */
public class Watched {
    public Watched() { System.err.println("made " + getClass().getName()); }
}
