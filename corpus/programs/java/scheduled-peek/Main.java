import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;

/** A scheduled task sets the temperature; main looks at it when it thinks that it is time, which is no order. */
class Thermostat {
    private double degrees;

    void measure() {
        degrees = 21.5;
    }

    double degrees() {
        return degrees;
    }
}

public class Main {
    public static void main(String[] args) throws Exception {
        Thermostat thermostat = new Thermostat();
        ScheduledExecutorService clock = Executors.newScheduledThreadPool(1);
        clock.schedule(thermostat::measure, 5, TimeUnit.MILLISECONDS);
        Thread.sleep(60);
        double seen = thermostat.degrees();
        clock.shutdown();
        clock.awaitTermination(5, TimeUnit.SECONDS);
        System.out.println(seen >= 0 ? "measured" : "cold");
    }
}
