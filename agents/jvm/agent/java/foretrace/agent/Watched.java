package foretrace.agent;

/** The parent of the classes under watch that had only Object: it knows who its objects are. */
public class Watched {
    transient volatile Shadow foretrace$shadow;
    /** When it was made: the block, position and rank of its maker; above {@link #MADE_SHIFT} the site where. */
    transient long foretrace$born;
    /** Threads that have got it from a variable that is watched (or been handed it), by the lower bits of their slots. */
    transient long foretrace$seen;

    /** Above what a time has. */
    static final int MADE_SHIFT = DeferredAccess.BLOCK_SHIFT, MADE_BITS = 64 - MADE_SHIFT;

    public Watched() {
        ThreadState self = ThreadState.own();
        foretrace$born = self == null ? 0 : self.tick;
    }
}
