import java.util.concurrent.locks.ReadWriteLock;
import java.util.concurrent.locks.ReentrantReadWriteLock;

/** A search reads the index and then the disk, a rebuild takes the disk and then writes the index. */
class Archive {
    private final ReadWriteLock index = new ReentrantReadWriteLock();
    private final Object disk = new Object();
    private int reads;
    private int version;

    void search() {
        index.readLock().lock();
        try {
            synchronized (disk) {
                reads++;
            }
        } finally {
            index.readLock().unlock();
        }
    }

    void rebuild() {
        synchronized (disk) {
            index.writeLock().lock();
            try {
                version++;
            } finally {
                index.writeLock().unlock();
            }
        }
    }

    @Override
    public String toString() {
        synchronized (disk) {
            return "reads " + reads + " version " + version;
        }
    }
}

public class Main {
    public static void main(String[] args) throws Exception {
        Archive archive = new Archive();
        Thread searching = new Thread(archive::search);
        Thread rebuilding = new Thread(archive::rebuild);
        searching.start();
        Thread.sleep(50); // they do not meet in the recorded run
        rebuilding.start();
        searching.join();
        rebuilding.join();
        System.out.println(archive);
    }
}
