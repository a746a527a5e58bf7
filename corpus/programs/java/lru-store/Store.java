import java.util.concurrent.locks.ReentrantReadWriteLock;

/** A bounded store for many readers. */
final class Store {
    private final ReentrantReadWriteLock lock = new ReentrantReadWriteLock();
    private final Table table = new Table(7);
    private final Order order = new Order();
    private final Stats stats = new Stats();
    private final Trim trim;
    private final int limit;

    Store(int limit, Trim trim) {
        this.limit = limit;
        this.trim = trim;
    }

    /** The mistake: a reader's lock is held, and a hit writes. */
    int get(String key) {
        lock.readLock().lock();
        try {
            Entry entry = table.find(key);
            if (entry == null) {
                return -1;
            }
            entry.hits++;
            return entry.value;
        } finally {
            lock.readLock().unlock();
        }
    }

    void put(String key, int value) {
        lock.writeLock().lock();
        try {
            Entry known = table.find(key);
            if (known != null) {
                known.value = value;
                return;
            }
            if (order.length() == limit) {
                evict();
            }
            Entry entry = new Entry(key, value);
            table.add(entry);
            order.append(entry);
            stats.insert();
        } finally {
            lock.writeLock().unlock();
        }
    }

    void trim(int goal) {
        lock.writeLock().lock();
        try {
            while (order.length() > goal) {
                evict();
            }
        } finally {
            lock.writeLock().unlock();
        }
    }

    private void evict() {
        Entry victim = trim.victim(order);
        order.unlink(victim);
        table.remove(victim);
        stats.evict();
    }

    int size() {
        lock.readLock().lock();
        try {
            return stats.balance() == table.size() ? table.size() : -1;
        } finally {
            lock.readLock().unlock();
        }
    }
}
