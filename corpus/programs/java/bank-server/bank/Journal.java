package bank;

import java.util.ArrayList;
import java.util.List;

/** Every request that was done or refused, by any teller. Its monitor is always the innermost. */
final class Journal {
    private final List<String> lines = new ArrayList<>();
    private int refused;

    synchronized void done(String teller, Request request) {
        lines.add(teller + ' ' + request.kind + ' ' + request.cents);
    }

    synchronized void refuse(String teller, Request request) {
        lines.add(teller + " refused " + request.kind);
        refused++;
    }

    synchronized int size() {
        return lines.size();
    }

    synchronized int refused() {
        return refused;
    }
}
