// A buyer looks again and again for an offer in a plain field, and then reads what the seller has put into it.
public class Main {
    static class Offer {
        int price;

        void setPrice(int price) {
            this.price = price;
        }

        int readPrice() {
            return price;
        }
    }

    private static Offer offer;

    private static void publish(Offer made) {
        offer = made;
    }

    private static Offer find() {
        return offer;
    }

    public static void main(String[] args) throws InterruptedException {
        Thread buyer = new Thread(() -> {
            try {
                Offer found = find();
                while (found == null) {
                    Thread.sleep(1);
                    found = find();
                }
                System.out.println("bought for " + found.readPrice());
            } catch (InterruptedException e) {
                throw new IllegalStateException(e);
            }
        });
        Thread seller = new Thread(() -> {
            Offer made = new Offer();
            made.setPrice(7);
            publish(made);
        });
        buyer.start();
        seller.start();
        buyer.join();
        seller.join();
    }
}
