/** Something that gets one message after another, never two at once; so its fields are plain. */
interface Actor {
    void receive(Message message);

    /** What to do when receive has thrown; most go on with the next message. */
    default void failed(RuntimeException error) {
    }
}
