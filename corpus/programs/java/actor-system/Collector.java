/** Adds up answers until it has all of them. */
final class Collector implements Actor {
    private final int expected;
    private int answers;
    private int sum;
    private String longest = "";

    Collector(int expected) {
        this.expected = expected;
    }

    @Override
    public void receive(Message message) {
        if (message instanceof Message.Answer && answers < expected) {
            Message.Answer answer = (Message.Answer) message;
            answers++;
            sum += answer.count;
            if (answer.longest.length() > longest.length()) {
                longest = answer.longest;
            }
        }
    }

    int sum() {
        return answers == expected ? sum : -1;
    }

    String longest() {
        return longest;
    }
}
