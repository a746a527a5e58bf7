import java.util.concurrent.Phaser;

/** Runners note their times, meet, and look at all of them; a judge waits until all have found their places. */
class Race {
    final Phaser placed = new Phaser(1);
    private final Phaser timed = new Phaser(3);
    private final int[] times = new int[3];
    private final int[] places = new int[3];

    void run(int lane) {
        times[lane] = 10 + (lane * 7) % 5;
        timed.arriveAndAwaitAdvance(); // all times are there
        int place = 1;
        for (int time : times) {
            if (time < times[lane]) {
                place++;
            }
        }
        places[lane] = place;
        placed.arriveAndDeregister();
    }

    int judge() {
        placed.awaitAdvance(placed.arriveAndDeregister());
        int code = 0;
        for (int place : places) {
            code = 10 * code + place;
        }
        return code;
    }
}

class Runner extends Thread {
    private final Race race;
    private final int lane;

    Runner(Race race, int lane) {
        this.race = race;
        this.lane = lane;
        race.placed.register();
    }

    @Override
    public void run() {
        race.run(lane);
    }
}

public class Main {
    public static void main(String[] args) throws Exception {
        Race race = new Race();
        Runner[] runners = {new Runner(race, 0), new Runner(race, 1), new Runner(race, 2)};
        for (Runner runner : runners) {
            runner.start();
        }
        int code = race.judge();
        System.out.println("places " + code);
    }
}
