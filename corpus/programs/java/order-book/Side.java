/** Who wants what. */
enum Side {
    BUY {
        @Override
        boolean accepts(long limit, long price) {
            return price <= limit;
        }

        @Override
        Side other() {
            return SELL;
        }
    },
    SELL {
        @Override
        boolean accepts(long limit, long price) {
            return price >= limit;
        }

        @Override
        Side other() {
            return BUY;
        }
    };

    abstract boolean accepts(long limit, long price);

    abstract Side other();
}
