/** The plane of JMPaX 3.0: the tower's permit is taken back before it was given, or after it was looked at. */
public class Main {
    public static void main(String[] args) throws Exception {
        Runnable pilot = new Pilot();
        Thread flying = new Thread(pilot);
        Thread tower = new Thread(new Tower());
        tower.start();
        flying.start();
        flying.join();
        tower.join();
        System.out.println(Plane.landing ? "landed" : "went round");
    }
}

class Plane {
    static boolean permit;
    static boolean landing;

    static boolean checkTower() {
        return true;
    }
}

class Pilot implements Runnable {
    @Override
    public void run() {
        try {
            Thread.sleep(60); // the tower is first in the recorded run
        } catch (InterruptedException e) {
            return;
        }
        land();
    }

    static void land() {
        Plane.permit = Plane.checkTower();
        if (Plane.permit) {
            Plane.landing = true;
        } else {
            Plane.landing = false;
        }
    }
}

class Tower implements Runnable {
    @Override
    public void run() {
        revoke();
    }

    static void revoke() {
        Plane.permit = false;
    }
}
