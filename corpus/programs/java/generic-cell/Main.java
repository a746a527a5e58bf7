import java.util.function.Supplier;
import java.util.function.UnaryOperator;

/** A generic cell that is updated by functions: synchronized when it is changed, but not when it is asked. */
class Cell<T> {
    private T content;

    Cell(Supplier<? extends T> first) {
        content = first.get();
    }

    synchronized void update(UnaryOperator<T> change) {
        content = change.apply(content);
    }

    T content() {
        return content;
    }
}

public class Main {
    static final Cell<String> cell = new Cell<>(() -> "a");
    static int length;

    static String longer(String text) {
        return text + "b";
    }

    static void change() {
        cell.update(Main::longer);
    }

    static void ask() {
        length = cell.content().length();
    }

    public static void main(String[] args) throws Exception {
        Thread changing = new Thread(Main::change);
        Thread asking = new Thread(Main::ask);
        changing.start();
        asking.start();
        changing.join();
        asking.join();
        System.out.println(length > 0 ? cell.content() : "empty");
    }
}
