import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.StampedLock;
import java.util.function.ObjLongConsumer;

/** What a stamped lock guards. */
class Box {
    final StampedLock lock = new StampedLock();
    // Opaque: it orders nothing.
    final AtomicInteger turn = new AtomicInteger();
    int value;

    int use(boolean isWriter) {
        return isWriter ? value++ : value;
    }

    void set() {
        long stamp = lock.writeLock(); value++; lock.unlockWrite(stamp);
    }

    void setLater() {
        while (turn.getOpaque() == 0) {
            Thread.onSpinWait();
        }
        set();
    }
}

/** All ways to give a stamp back, by another thread than the one that took it. */
public class Main {
    static int hand(boolean isWriter, ObjLongConsumer<StampedLock> give) throws InterruptedException {
        Box box = new Box();
        Thread later = new Thread(box::setLater);
        later.start();
        long stamp = isWriter ? box.lock.writeLock() : box.lock.readLock();
        box.use(isWriter);
        Thread assistant = new Thread(() -> {
            box.use(isWriter);
            give.accept(box.lock, stamp);
            box.turn.setOpaque(1);
        });
        assistant.start();
        assistant.join();
        later.join();
        return box.use(false);
    }

    public static void main(String[] args) throws InterruptedException {
        int sum = 0;
        sum += hand(true, (lock, stamp) -> lock.unlockWrite(stamp));
        sum += hand(true, (lock, stamp) -> lock.unlock(stamp));
        sum += hand(true, (lock, stamp) -> lock.tryUnlockWrite());
        sum += hand(true, (lock, stamp) -> lock.asWriteLock().unlock());
        sum += hand(true, (lock, stamp) -> lock.asReadWriteLock().writeLock().unlock());
        sum += hand(true, (lock, stamp) -> lock.tryConvertToOptimisticRead(stamp));
        sum += hand(true, (lock, stamp) -> lock.unlockRead(lock.tryConvertToReadLock(stamp)));
        sum += hand(false, (lock, stamp) -> lock.unlockRead(stamp));
        sum += hand(false, (lock, stamp) -> lock.unlock(stamp));
        sum += hand(false, (lock, stamp) -> lock.tryUnlockRead());
        sum += hand(false, (lock, stamp) -> lock.asReadLock().unlock());
        sum += hand(false, (lock, stamp) -> lock.asReadWriteLock().readLock().unlock());
        sum += hand(false, (lock, stamp) -> lock.tryConvertToOptimisticRead(stamp));
        sum += hand(false, (lock, stamp) -> lock.unlockWrite(lock.tryConvertToWriteLock(stamp)));
        System.out.println(sum);
    }
}
