/** The newest headline is an immutable object in a plain field, written by the desk and read by the printer. */
public class Main {
    static final class Headline {
        private final String text;

        Headline(String text) {
            this.text = text;
        }

        int length() {
            return text.length();
        }
    }

    static Headline newest = new Headline("quiet day");
    static int printed;

    static void announce() {
        newest = new Headline("storm");
    }

    static void print() {
        printed = newest.length();
    }

    public static void main(String[] args) throws Exception {
        Thread desk = new Thread(Main::announce);
        Thread printer = new Thread(Main::print);
        desk.start();
        printer.start();
        desk.join();
        printer.join();
        System.out.println(printed > 0 ? "printed " + newest.length() : "nothing");
    }
}
