package pipeline;

/** Counts by kind of token. */
final class Histogram {
    private final long[] counts = new long[Token.Kind.values().length];

    synchronized void merge(int[] part) {
        for (int i = 0; i < part.length; i++) {
            counts[i] += part[i];
        }
    }

    synchronized String summary() {
        StringBuilder text = new StringBuilder();
        for (Token.Kind kind : Token.Kind.values()) {
            text.append(kind.name().toLowerCase()).append(' ').append(counts[kind.ordinal()]).append(' ');
        }
        return text.toString().trim();
    }
}
