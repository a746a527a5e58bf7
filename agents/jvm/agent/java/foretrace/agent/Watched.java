package foretrace.agent;

/**
 * The super class that weaving gives to classes which extended Object: it adds the fields that an object's identity
 * needs.
 */
public class Watched {
    transient volatile Shadow foretrace$shadow;
    /** The tick of the thread that made the object; above {@link #MADE_SHIFT}, the site where. */
    transient long foretrace$born;
    /**
     * A bit for each thread (by the lower bits of its slot) that got the object from a variable of a watched class, or
     * by an effect.
     */
    transient long foretrace$seen;

    /** A tick needs no more bits than these. */
    static final int MADE_SHIFT = DeferredAccess.BLOCK_SHIFT, MADE_BITS = 64 - MADE_SHIFT;

    public Watched() {
        ThreadState self = ThreadState.own();
        if (self != null && self.isNew()) {
            // Without a first tick, the object would seem to have been there before all threads.
            ThreadState.ready();
        }
        foretrace$born = self == null ? 0 : self.tick;
    }
}
