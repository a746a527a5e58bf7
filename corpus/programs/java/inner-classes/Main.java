/**
 * A shop is sold out of by an inner class, an anonymous class and a lambda; they all share the object they were made
 * in.
 */
class Shop {
    private byte sold;

    void sell() {
        sold++;
    }

    class Counter implements Runnable {
        @Override
        public void run() {
            sell();
        }
    }

    Runnable counter() {
        return new Counter();
    }

    Runnable stall() {
        return new Runnable() {
            @Override
            public void run() {
                Shop.this.sell();
            }
        };
    }

    Runnable delivery(String street) {
        return () -> {
            sell();
            street.length();
        };
    }

    boolean soldAny() {
        return sold > 0;
    }
}

public class Main {
    public static void main(String[] args) throws Exception {
        Shop shop = new Shop();
        Thread[] sellers = {
            new Thread(shop.counter()), new Thread(shop.stall()), new Thread(shop.delivery("High Street"))
        };
        for (Thread seller : sellers) {
            seller.start();
        }
        for (Thread seller : sellers) {
            seller.join();
        }
        System.out.println(shop.soldAny() ? "sold" : "closed");
    }
}
