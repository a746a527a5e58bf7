package foretrace.agent;

/** The parent of objects under watch. */
public class Watched {
}
