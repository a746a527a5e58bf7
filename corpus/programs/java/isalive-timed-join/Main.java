/** Whoever sees that a thread is no longer alive may read what it wrote; whoever only waited for a while may not. */
class Painter extends Thread {
    private float square;

    @Override
    public void run() {
        paint();
    }

    private void paint() {
        square = 12.5f;
    }

    float square() {
        return square;
    }
}

public class Main {
    static boolean ended(Thread thread) throws InterruptedException {
        while (thread.isAlive()) {
            thread.join(20);
        }
        return true;
    }

    public static void main(String[] args) throws Exception {
        Painter painter = new Painter();
        painter.start();
        boolean done = ended(painter);
        float seen = painter.square();
        painter.join();
        System.out.println(done && seen >= 0 ? "painted" : "bare");
    }
}
