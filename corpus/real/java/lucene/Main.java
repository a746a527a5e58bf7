import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.Callable;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.apache.lucene.analysis.standard.StandardAnalyzer;
import org.apache.lucene.document.Document;
import org.apache.lucene.document.Field;
import org.apache.lucene.document.IntPoint;
import org.apache.lucene.document.NumericDocValuesField;
import org.apache.lucene.document.StoredField;
import org.apache.lucene.document.StringField;
import org.apache.lucene.document.TextField;
import org.apache.lucene.index.DirectoryReader;
import org.apache.lucene.index.IndexWriter;
import org.apache.lucene.index.IndexWriterConfig;
import org.apache.lucene.index.Term;
import org.apache.lucene.search.FieldDoc;
import org.apache.lucene.search.IndexSearcher;
import org.apache.lucene.search.Query;
import org.apache.lucene.search.ScoreDoc;
import org.apache.lucene.search.SearcherFactory;
import org.apache.lucene.search.SearcherManager;
import org.apache.lucene.search.Sort;
import org.apache.lucene.search.SortField;
import org.apache.lucene.search.TermQuery;
import org.apache.lucene.search.TopDocs;
import org.apache.lucene.store.ByteBuffersDirectory;

/**
 * Has Lucene index, change and delete documents by four threads, while two others search and merges go on.
 *
 * Usage: Main [SIZE]; 100 is the ordinary size. What is printed depends on the size alone.
 */
public class Main {
    private static final int THREADS = 4;
    private static final String[] WORDS = {
        "quick", "brown", "fox", "lazy", "dog", "river", "stone", "cloud", "paper", "engine", "window", "garden"};

    public static void main(String[] args) throws Exception {
        int size = args.length > 0 ? Integer.parseInt(args[0]) : 100;
        int rounds = Math.max(10, 60 * size);
        ByteBuffersDirectory directory = new ByteBuffersDirectory();
        IndexWriterConfig config = new IndexWriterConfig(new StandardAnalyzer());
        // Segments are small, so that many are made and merged.
        config.setMaxBufferedDocs(200);
        config.setRAMBufferSizeMB(IndexWriterConfig.DISABLE_AUTO_FLUSH);
        IndexWriter writer = new IndexWriter(directory, config);
        writer.commit();
        SearcherManager searchers = new SearcherManager(writer, new SearcherFactory());

        CountDownLatch indexing = new CountDownLatch(THREADS);
        List<Callable<Long>> work = new ArrayList<>();
        for (int t = 0; t < THREADS; t++) {
            int thread = t;
            work.add(() -> {
                try {
                    return index(writer, thread, rounds);
                } finally {
                    indexing.countDown();
                }
            });
        }
        for (int i = 0; i < 2; i++) work.add(() -> search(searchers, indexing));
        long made = together(work);

        searchers.maybeRefreshBlocking();
        IndexSearcher searcher = searchers.acquire();
        try {
            System.out.println(made + " documents made, " + searcher.getIndexReader().numDocs() + " are left");
            report(searcher);
        } finally {
            searchers.release(searcher);
        }
        writer.forceMerge(1);
        writer.commit();
        searchers.close();
        writer.close();
        try (DirectoryReader reader = DirectoryReader.open(directory)) {
            System.out.println("merged: " + reader.numDocs() + " documents in " + reader.leaves().size() + " segment");
            report(new IndexSearcher(reader));
        }
    }

    /** Adds documents in pairs, gives some of them other texts, deletes some. Says how many documents it made. */
    private static long index(IndexWriter writer, int thread, int rounds) throws IOException {
        Random random = new Random(thread);
        long made = 0;
        for (int i = 0; i < rounds; i++) {
            String pair = thread + "-" + i;
            // The two come into the index together, or not at all.
            writer.addDocuments(pair(pair, thread, i, random));
            made += 2;
            if (i % 7 == 3) {
                String old = thread + "-" + random.nextInt(i);
                writer.updateDocuments(new Term("pair", old), pair(old, thread, i, random));
                made += 2;
            }
            if (i % 5 == 4) writer.deleteDocuments(new Term("pair", thread + "-" + random.nextInt(i)));
            if (i % 11 == 6) writer.updateNumericDocValue(new Term("pair", pair), "rank", i + 100_000);
            if (i % 1000 == 999) writer.commit();
        }
        return made;
    }

    private static List<Document> pair(String pair, int thread, int number, Random random) {
        return List.of(document(pair, "left", thread, number, random), document(pair, "right", thread, number, random));
    }

    private static Document document(String pair, String half, int thread, int number, Random random) {
        StringBuilder text = new StringBuilder();
        for (int i = 0; i < 12; i++) text.append(WORDS[random.nextInt(WORDS.length)]).append(' ');
        Document document = new Document();
        document.add(new StringField("pair", pair, Field.Store.YES));
        document.add(new StringField("half", half, Field.Store.NO));
        document.add(new TextField("text", text.toString(), Field.Store.YES));
        document.add(new IntPoint("number", number));
        document.add(new StoredField("number", number));
        document.add(new NumericDocValuesField("rank", thread * 1_000_000L + number));
        return document;
    }

    /** Searches as long as there is indexing: at any time there are as many left halves as right ones. */
    private static long search(SearcherManager searchers, CountDownLatch indexing) throws IOException {
        Sort byRank = new Sort(new SortField("rank", SortField.Type.LONG, true));
        while (indexing.getCount() > 0) {
            searchers.maybeRefresh();
            IndexSearcher searcher = searchers.acquire();
            try {
                int left = searcher.count(new TermQuery(new Term("half", "left")));
                int right = searcher.count(new TermQuery(new Term("half", "right")));
                if (left != right) throw new IllegalStateException(left + " left halves and " + right + " right ones");
                TopDocs best = searcher.search(new TermQuery(new Term("text", "fox")), 10);
                for (int i = 0; i < best.scoreDocs.length; i++) {
                    String pair = searcher.doc(best.scoreDocs[i].doc).get("pair");
                    int both = searcher.count(new TermQuery(new Term("pair", pair)));
                    if (both != 2) throw new IllegalStateException("pair " + pair + " has " + both);
                }
                Query low = IntPoint.newRangeQuery("number", 0, 50);
                if (searcher.search(low, 5, byRank).scoreDocs.length > 5) throw new IllegalStateException("too many");
            } finally {
                searchers.release(searcher);
            }
        }
        return 0;
    }

    /** Prints how often some words are found, which is settled. */
    private static void report(IndexSearcher searcher) throws IOException {
        StringBuilder line = new StringBuilder();
        for (String word : new String[] {"fox", "river", "garden"}) {
            line.append(word).append(' ').append(searcher.count(new TermQuery(new Term("text", word)))).append(", ");
        }
        long ranks = 0;
        Sort byRank = new Sort(new SortField("rank", SortField.Type.LONG, true));
        TopDocs highest = searcher.search(IntPoint.newRangeQuery("number", 0, 1000), 50, byRank);
        for (ScoreDoc found : highest.scoreDocs) ranks += (Long) ((FieldDoc) found).fields[0];
        System.out.println(line + "ranks " + ranks);
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
}
