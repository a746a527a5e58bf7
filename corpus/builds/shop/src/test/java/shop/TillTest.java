package shop;

import static org.junit.Assert.assertTrue;

import org.junit.Test;

/** Two threads add to a till without a lock: passes, and is a race. */
public class TillTest {
    @Test
    public void twoCashiersAdd() throws InterruptedException {
        Till till = new Till();
        Thread other = new Thread(() -> till.add(1));
        other.start();
        till.add(2);
        other.join();
        assertTrue(till.amount() > 0);
    }
}
