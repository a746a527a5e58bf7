/**
 * A field of a super class is written by a method of the sub class, and read through a default method of an interface.
 */
interface Serviced {
    int INTERVAL = 3;

    int kilometres();

    default boolean due() {
        return kilometres() > INTERVAL;
    }
}

abstract class Vehicle implements Serviced {
    protected int driven;

    @Override
    public int kilometres() {
        return driven;
    }
}

class Truck extends Vehicle {
    private int load;

    void drive() {
        driven = 5;
    }

    synchronized void load() {
        load++;
    }

    synchronized int loads() {
        return load;
    }
}

public class Main {
    public static void main(String[] args) throws Exception {
        Truck truck = new Truck();
        Thread driver = new Thread(truck::drive);
        Thread garage = new Thread(truck::due);
        Thread dock = new Thread(truck::load);
        driver.start();
        garage.start();
        dock.start();
        driver.join();
        garage.join();
        dock.join();
        System.out.println(truck.kilometres() + " " + truck.due() + " " + truck.loads());
    }
}
