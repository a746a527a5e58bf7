import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.Random;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.ArrayList;
import java.util.List;
import org.h2.jdbcx.JdbcConnectionPool;
import org.h2.mvstore.MVMap;
import org.h2.mvstore.MVStore;

/**
 * Has H2 do what a bank does, by four threads: transfers, a ledger, tickets; two more look at it all and make indexes
 * meanwhile. Then the same store is used without SQL.
 *
 * Usage: Main [SIZE]; 100 is the ordinary size. What is printed depends on the size alone: who transfers what is
 * settled, only when is not.
 */
public class Main {
    private static final int THREADS = 4;
    private static final int ACCOUNTS = 40;
    private static final int START = 1000;
    private static int size = 100;

    public static void main(String[] args) throws Exception {
        if (args.length > 0) size = Integer.parseInt(args[0]);
        // A database without a file, and one whose file is in memory: that one has a thread that writes.
        bank("jdbc:h2:mem:bank");
        bank("jdbc:h2:nioMemFS:bank");
        store();
    }

    /** The four threads' work on one database. */
    private static void bank(String url) throws Exception {
        JdbcConnectionPool pool = JdbcConnectionPool.create(url + ";LOCK_TIMEOUT=60000;DB_CLOSE_DELAY=-1", "sa", "");
        try (Connection c = pool.getConnection(); Statement s = c.createStatement()) {
            s.execute("create table account(id int primary key, balance bigint not null)");
            s.execute("create table ledger(thread int, number int, source int, target int, amount int,"
                + " primary key(thread, number))");
            s.execute("create sequence tickets");
            s.execute("insert into account select x, " + START + " from system_range(0, " + (ACCOUNTS - 1) + ")");
        }
        int transfers = Math.max(4, 45 * size);
        List<Callable<Long>> work = new ArrayList<>();
        for (int t = 0; t < THREADS; t++) {
            int thread = t;
            work.add(() -> clerk(pool, thread, transfers));
        }
        work.add(() -> auditor(pool, Math.max(2, size)));
        work.add(() -> indexer(pool, Math.max(1, size / 10)));
        long worked = together(work);
        try (Connection c = pool.getConnection(); Statement s = c.createStatement()) {
            check(number(s, "select sum(balance) from account") == (long) ACCOUNTS * START, "money was made or lost");
            check(number(s, "select count(*) from ledger") == (long) THREADS * transfers, "entries are missing");
            // Each balance must be what the ledger says of it.
            check(number(s, "select count(*) from account a where balance <> " + START
                + " + (select coalesce(sum(amount), 0) from ledger where target = a.id)"
                + " - (select coalesce(sum(amount), 0) from ledger where source = a.id)") == 0, "a balance is wrong");
            long next = number(s, "select next value for tickets");
            check(next == (long) THREADS * transfers + 1, "a ticket was given twice");
            long digest = number(s, "select sum(balance * (id + 7)) from account");
            System.out.println(url + " " + worked + " statements, digest " + digest);
            s.execute("shutdown");
        }
        pool.dispose();
    }

    /** Transfers money, and writes down each transfer in the same transaction. */
    private static long clerk(JdbcConnectionPool pool, int thread, int transfers) throws SQLException {
        Random random = new Random(thread);
        long done = 0;
        for (int i = 0; i < transfers; i++) {
            int source = random.nextInt(ACCOUNTS);
            int target = (source + 1 + random.nextInt(ACCOUNTS - 1)) % ACCOUNTS;
            int amount = 1 + random.nextInt(50);
            int number = i;
            done += again(pool, c -> {
                // Rows are locked in the order of their numbers, so that no two transfers wait for each other.
                int low = Math.min(source, target), high = Math.max(source, target);
                add(c, low, low == source ? -amount : amount);
                add(c, high, high == source ? -amount : amount);
                try (PreparedStatement s = c.prepareStatement("insert into ledger values(?, ?, ?, ?, ?)")) {
                    s.setInt(1, thread);
                    s.setInt(2, number);
                    s.setInt(3, source);
                    s.setInt(4, target);
                    s.setInt(5, amount);
                    s.executeUpdate();
                }
                return 3;
            });
            try (Connection c = pool.getConnection(); Statement s = c.createStatement()) {
                check(number(s, "select next value for tickets") > 0, "a ticket below 1");
                done++;
            }
        }
        return done;
    }

    private static void add(Connection c, int account, int amount) throws SQLException {
        try (PreparedStatement s = c.prepareStatement("update account set balance = balance + ? where id = ?")) {
            s.setInt(1, amount);
            s.setInt(2, account);
            check(s.executeUpdate() == 1, "no such account");
        }
    }

    /** Sees all the money at any time, if it looks at one state of the database. */
    private static long auditor(JdbcConnectionPool pool, int rounds) throws SQLException {
        for (int i = 0; i < rounds; i++) {
            try (Connection c = pool.getConnection(); Statement s = c.createStatement()) {
                long sum = number(s, "select sum(balance) from account");
                check(sum == (long) ACCOUNTS * START, "a transfer was seen by half");
            }
            int account = i % ACCOUNTS;
            again(pool, c -> {
                c.setTransactionIsolation(6); // org.h2.engine.Constants.TRANSACTION_SNAPSHOT
                try (Statement s = c.createStatement()) {
                    long balance = number(s, "select balance from account where id = " + account);
                    long entered = number(s, "select " + START + " + coalesce(sum(case when target = " + account
                        + " then amount else -amount end), 0) from ledger where " + account + " in (source, target)");
                    check(balance == entered, "account and ledger differ within one state");
                } finally {
                    c.rollback();
                    c.setTransactionIsolation(Connection.TRANSACTION_READ_COMMITTED);
                }
                return 0;
            });
        }
        return 2L * rounds;
    }

    /**
     * Makes indexes while the others write. It drops none of theirs: H2 2.1 takes no lock of the table for that, and an
     * insert may then fail with a ConcurrentModificationException (H2's issue 4398). It makes, fills and drops
     * tables of its own instead.
     */
    private static long indexer(JdbcConnectionPool pool, int rounds) throws SQLException {
        for (int i = 0; i < rounds; i++) {
            if (i == 0) again(pool, c -> run(c, "create index by_source on ledger(source, amount)"));
            if (i == rounds / 2) again(pool, c -> run(c, "create index by_target on ledger(target)"));
            if (i == rounds - 1) again(pool, c -> run(c, "create index by_balance on account(balance)"));
            again(pool, c -> run(c, "create table copy as select source, amount from ledger where number < 50"));
            again(pool, c -> run(c, "create index in_copy on copy(source)"));
            try (Connection c = pool.getConnection(); Statement s = c.createStatement()) {
                long by = number(s, "select count(*) from copy where source between 0 and " + ACCOUNTS);
                check(by == number(s, "select count(*) from copy"), "the copy's index lacks rows");
            }
            again(pool, c -> run(c, "drop table copy"));
        }
        return 5L * rounds;
    }

    /** The store below the database: four threads on one map, with a thread of the store's that writes it away. */
    private static void store() throws Exception {
        MVStore store = new MVStore.Builder().fileName("nioMemFS:store").autoCommitBufferSize(64).open();
        MVMap<Integer, Long> shared = store.openMap("shared");
        int rounds = 400 * size;
        List<Callable<Long>> work = new ArrayList<>();
        for (int t = 0; t < THREADS; t++) {
            int thread = t;
            work.add(() -> {
                MVMap<Integer, String> own = store.openMap("own" + thread);
                for (int i = 0; i < rounds; i++) {
                    shared.put(i * THREADS + thread, (long) i);
                    if (i % 3 == 0) shared.remove(i / 2 * THREADS + thread);
                    own.put(i % 1000, "value " + i);
                    if (i % 500 == 0) store.commit();
                }
                return (long) own.size();
            });
        }
        long kept = together(work);
        long digest = 0;
        for (Integer key : shared.keySet()) digest = digest * 31 + key + shared.get(key);
        System.out.println("store " + shared.size() + " and " + kept + " entries, digest " + digest);
        store.close();
    }

    private interface Transaction {
        int run(Connection c) throws SQLException;
    }

    private static int run(Connection c, String sql) throws SQLException {
        try (Statement s = c.createStatement()) {
            s.execute(sql);
            return 1;
        }
    }

    /** One transaction; again, if the database gave it up in favour of another. */
    private static int again(JdbcConnectionPool pool, Transaction transaction) throws SQLException {
        while (true) {
            try (Connection c = pool.getConnection()) {
                c.setAutoCommit(false);
                try {
                    int result = transaction.run(c);
                    c.commit();
                    return result;
                } catch (SQLException e) {
                    c.rollback();
                    // A deadlock, a lock that took too long, somebody else who changed the row first.
                    if (!List.of("40001", "HYT00", "90131").contains(e.getSQLState())) throw e;
                } finally {
                    c.setAutoCommit(true);
                }
            }
        }
    }

    private static long number(Statement s, String sql) throws SQLException {
        try (ResultSet r = s.executeQuery(sql)) {
            r.next();
            return r.getLong(1);
        }
    }

    /** Runs all at the same time and adds up what they give. */
    private static long together(List<Callable<Long>> work) throws Exception {
        ExecutorService threads = Executors.newFixedThreadPool(work.size());
        try {
            long sum = 0;
            for (Future<Long> result : threads.invokeAll(work)) sum += result.get();
            return sum;
        } finally {
            threads.shutdown();
        }
    }

    private static void check(boolean holds, String otherwise) {
        if (!holds) throw new IllegalStateException(otherwise);
    }
}
