/** The second figure of JMPaX 3.0: x falls below zero before it rises above it, in this run. */
class Numbers {
    int x;
    int y;
    int z;

    void fall() {
        x = -1;
        z = x + 3;
    }

    void rise() {
        x = 1;
        y = x + z;
    }
}

public class Main {
    public static void main(String[] args) throws Exception {
        Numbers numbers = new Numbers();
        Thread falling = new Thread(numbers::fall);
        Thread rising = new Thread(numbers::rise);
        falling.start();
        Thread.sleep(50); // the recorded run falls first
        rising.start();
        falling.join();
        rising.join();
        System.out.println("x " + numbers.x + " y " + numbers.y + " z " + numbers.z);
    }
}
