import java.util.Arrays;
import java.util.stream.IntStream;

/** Numbers are scaled in a parallel stream, by a factor that another thread has set. */
public class Main {
    static int factor = 1;

    static void tune() {
        factor = 3;
    }

    static int scale(int number) {
        return factor * number;
    }

    public static void main(String[] args) throws Exception {
        Thread tuner = new Thread(Main::tune);
        tuner.start();
        int[] squares = new int[100];
        tuner.join(); // the factor is settled before the stream begins
        int sum = IntStream.range(0, 100).parallel().map(Main::scale).sum();
        Arrays.parallelSetAll(squares, i -> i * i);
        int even = (int) Arrays.stream(squares).parallel().filter(n -> n % 2 == 0).count();
        tuner.join();
        System.out.println("sum " + sum + " even " + even);
    }
}
