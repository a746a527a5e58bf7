/** How a line looks on paper. Layouts are used by the writer thread only, so they may keep state. */
interface Layout {
    String format(Line line);

    default String clean(String text) {
        return text.replace('\n', ' ').trim();
    }

    /** The level's letter before the text. */
    final class Tagged implements Layout {
        @Override
        public String format(Line line) {
            return "[" + line.level.mark() + "] " + clean(line.text);
        }
    }

    /** Counts what another layout makes. */
    final class Numbered implements Layout {
        private final Layout inner;
        private int number;

        Numbered(Layout inner) {
            this.inner = inner;
        }

        @Override
        public String format(Line line) {
            number++;
            return number + " " + inner.format(line);
        }
    }
}
