import java.io.BufferedInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.HttpURLConnection;
import java.net.Socket;
import java.net.URL;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicInteger;
import javax.servlet.AsyncContext;
import javax.servlet.http.HttpServlet;
import javax.servlet.http.HttpServletRequest;
import javax.servlet.http.HttpServletResponse;
import javax.servlet.http.HttpSession;
import org.eclipse.jetty.server.Server;
import org.eclipse.jetty.server.ServerConnector;
import org.eclipse.jetty.server.handler.StatisticsHandler;
import org.eclipse.jetty.servlet.ServletContextHandler;
import org.eclipse.jetty.servlet.ServletHolder;
import org.eclipse.jetty.util.thread.QueuedThreadPool;

/**
 * Has Jetty serve what four clients ask for: a register they share, a session each, long bodies there and back, and
 * answers that another thread gives.
 *
 * Usage: Main [SIZE]; 100 is the ordinary size. What is printed depends on the size alone.
 */
public class Main {
    private static final int CLIENTS = 4;

    public static void main(String[] args) throws Exception {
        int size = args.length > 0 ? Integer.parseInt(args[0]) : 100;
        System.setProperty("org.eclipse.jetty.util.log.class", "org.eclipse.jetty.util.log.StdErrLog");
        System.setProperty("org.eclipse.jetty.util.log.announce", "false");
        System.setProperty("org.eclipse.jetty.LEVEL", "WARN");

        Server server = new Server(new QueuedThreadPool(16, 8));
        ServerConnector connector = new ServerConnector(server, 1, 2);
        connector.setHost("127.0.0.1");
        server.addConnector(connector);
        Register register = new Register();
        ExecutorService later = Executors.newFixedThreadPool(2);
        ServletContextHandler context = new ServletContextHandler(ServletContextHandler.SESSIONS);
        context.addServlet(new ServletHolder(register), "/add");
        context.addServlet(new ServletHolder(new Visits()), "/visit");
        context.addServlet(new ServletHolder(new Echo()), "/echo");
        context.addServlet(new ServletHolder(new Later(later)), "/later");
        StatisticsHandler statistics = new StatisticsHandler();
        statistics.setHandler(context);
        server.setHandler(statistics);
        server.start();
        int port = connector.getLocalPort();

        int rounds = Math.max(4, 10 * size);
        List<Callable<Long>> work = new ArrayList<>();
        for (int c = 0; c < CLIENTS; c++) {
            int client = c;
            // Half of the clients keep a connection of their own, the others leave that to the JDK.
            work.add(() -> client % 2 == 0 ? byHand(port, client, rounds) : byLibrary(port, client, rounds));
        }
        long bytes = together(work);
        // The last request is counted after its answer was sent.
        int requests = CLIENTS * 4 * rounds;
        for (int i = 0; i < 1000 && statistics.getRequests() < requests; i++) Thread.sleep(10);
        server.stop();
        later.shutdown();
        System.out.println(statistics.getRequests() + " requests, " + statistics.getResponses2xx() + " went well, "
            + bytes + " bytes came back");
        System.out.println("register " + register.counts + ", last " + register.last);
    }

    /** Counts by name, and hands out numbers: what all clients share. */
    @SuppressWarnings("serial")
    private static class Register extends HttpServlet {
        private final ConcurrentHashMap<String, AtomicInteger> counts = new ConcurrentHashMap<>();
        private int last;

        @Override
        protected void doGet(HttpServletRequest request, HttpServletResponse response) throws IOException {
            counts.computeIfAbsent(request.getParameter("name"), name -> new AtomicInteger()).incrementAndGet();
            int number;
            synchronized (this) {
                number = ++last;
            }
            response.setContentType("text/plain");
            response.getWriter().print(number);
        }
    }

    /** Counts the visits of a session. */
    @SuppressWarnings("serial")
    private static class Visits extends HttpServlet {
        @Override
        protected void doGet(HttpServletRequest request, HttpServletResponse response) throws IOException {
            HttpSession session = request.getSession(true);
            Integer before = (Integer) session.getAttribute("visits");
            int visits = before == null ? 1 : before + 1;
            session.setAttribute("visits", visits);
            response.getWriter().print(visits);
        }
    }

    /** Gives the body back, turned around. */
    @SuppressWarnings("serial")
    private static class Echo extends HttpServlet {
        @Override
        protected void doPost(HttpServletRequest request, HttpServletResponse response) throws IOException {
            response.getOutputStream().write(turned(request.getInputStream().readAllBytes()));
        }
    }

    /** Has another thread answer. */
    @SuppressWarnings("serial")
    private static class Later extends HttpServlet {
        private final ExecutorService threads;

        Later(ExecutorService threads) {
            this.threads = threads;
        }

        @Override
        protected void doGet(HttpServletRequest request, HttpServletResponse response) {
            AsyncContext context = request.startAsync();
            threads.execute(() -> {
                try {
                    context.getResponse().getWriter().print("later " + request.getParameter("name"));
                } catch (IOException e) {
                    e.printStackTrace();
                }
                context.complete();
            });
        }
    }

    /** What a client sends in a round: some hundred to some ten thousand bytes. */
    private static byte[] body(int client, int round) {
        byte[] body = new byte[100 + round * 379 % (round % 50 == 0 ? 40000 : 2000)];
        for (int i = 0; i < body.length; i++) body[i] = (byte) (i * 31 + client + round);
        return body;
    }

    private static byte[] turned(byte[] bytes) {
        byte[] turned = new byte[bytes.length];
        for (int i = 0; i < bytes.length; i++) turned[i] = bytes[bytes.length - 1 - i];
        return turned;
    }

    /** Checks the answers of a round, and says how long the one is whose length is settled. */
    private static long check(int client, int round, byte[] add, byte[] visit, byte[] echo, byte[] later) {
        expect(Integer.parseInt(text(add)) > round, "a number was given twice");
        expect(text(visit).equals(Integer.toString(round + 1)), "this was no visit " + round + ": " + text(visit));
        expect(Arrays.equals(echo, turned(body(client, round))), "another body came back");
        expect(text(later).equals("later " + client + "-" + round), "another answer: " + text(later));
        return echo.length;
    }

    private static void expect(boolean holds, String otherwise) {
        if (!holds) throw new IllegalStateException(otherwise);
    }

    private static String text(byte[] bytes) {
        return new String(bytes, StandardCharsets.ISO_8859_1);
    }

    /** A client with one connection, which it writes to itself. */
    private static long byHand(int port, int client, int rounds) throws IOException {
        long bytes = 0;
        try (Socket socket = new Socket("127.0.0.1", port)) {
            socket.setTcpNoDelay(true);
            InputStream in = new BufferedInputStream(socket.getInputStream());
            OutputStream out = socket.getOutputStream();
            String[] cookie = new String[1];
            for (int i = 0; i < rounds; i++) {
                byte[] add = ask(in, out, "GET /add?name=" + client, null, cookie);
                byte[] visit = ask(in, out, "GET /visit", null, cookie);
                byte[] echo = ask(in, out, "POST /echo", body(client, i), cookie);
                byte[] later = ask(in, out, "GET /later?name=" + client + "-" + i, null, cookie);
                bytes += check(client, i, add, visit, echo, later);
            }
        }
        return bytes;
    }

    private static byte[] ask(InputStream in, OutputStream out, String what, byte[] body, String[] cookie)
        throws IOException {
        ByteArrayOutputStream request = new ByteArrayOutputStream();
        String head = what + " HTTP/1.1\r\nHost: localhost\r\n"
            + (cookie[0] == null ? "" : "Cookie: " + cookie[0] + "\r\n")
            + (body == null ? "" : "Content-Length: " + body.length + "\r\n") + "\r\n";
        request.write(head.getBytes(StandardCharsets.ISO_8859_1));
        if (body != null) request.write(body);
        out.write(request.toByteArray());
        String status = line(in);
        if (!status.startsWith("HTTP/1.1 200")) throw new IOException(what + ": " + status);
        int length = -1;
        boolean chunked = false;
        for (String line = line(in); !line.isEmpty(); line = line(in)) {
            String lower = line.toLowerCase();
            if (lower.startsWith("content-length:")) length = Integer.parseInt(line.substring(15).trim());
            if (lower.startsWith("transfer-encoding: chunked")) chunked = true;
            if (lower.startsWith("set-cookie:")) cookie[0] = line.substring(11).trim().replaceAll(";.*", "");
        }
        if (!chunked) return in.readNBytes(length);
        ByteArrayOutputStream whole = new ByteArrayOutputStream();
        for (int part = Integer.parseInt(line(in), 16); part > 0; part = Integer.parseInt(line(in), 16)) {
            whole.write(in.readNBytes(part));
            line(in);
        }
        line(in);
        return whole.toByteArray();
    }

    private static String line(InputStream in) throws IOException {
        StringBuilder line = new StringBuilder();
        for (int b = in.read(); b != '\n'; b = in.read()) {
            if (b < 0) throw new IOException("the connection was closed");
            if (b != '\r') line.append((char) b);
        }
        return line.toString();
    }

    /** A client that has the JDK connect. */
    private static long byLibrary(int port, int client, int rounds) throws IOException {
        long bytes = 0;
        String[] cookie = new String[1];
        String server = "http://127.0.0.1:" + port;
        for (int i = 0; i < rounds; i++) {
            byte[] add = ask(server + "/add?name=" + client, null, cookie);
            byte[] visit = ask(server + "/visit", null, cookie);
            byte[] echo = ask(server + "/echo", body(client, i), cookie);
            byte[] later = ask(server + "/later?name=" + client + "-" + i, null, cookie);
            bytes += check(client, i, add, visit, echo, later);
        }
        return bytes;
    }

    private static byte[] ask(String address, byte[] body, String[] cookie) throws IOException {
        HttpURLConnection connection = (HttpURLConnection) new URL(address).openConnection();
        if (cookie[0] != null) connection.setRequestProperty("Cookie", cookie[0]);
        if (body != null) {
            connection.setDoOutput(true);
            connection.setFixedLengthStreamingMode(body.length);
            try (OutputStream out = connection.getOutputStream()) {
                out.write(body);
            }
        }
        byte[] answer;
        try (InputStream in = connection.getInputStream()) {
            answer = in.readAllBytes();
        }
        String set = connection.getHeaderField("Set-Cookie");
        if (set != null) cookie[0] = set.replaceAll(";.*", "");
        return answer;
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
