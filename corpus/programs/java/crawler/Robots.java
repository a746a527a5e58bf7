/** Which pages are not to be visited. Built by whichever worker asks first, in the initialisation of this class. */
final class Robots {
    static final Robots RULES = parse("deny /private", "allow /private/garden", "deny /tmp");

    private final String[] prefixes;
    private final boolean[] allowed;

    private Robots(int rules) {
        prefixes = new String[rules];
        allowed = new boolean[rules];
    }

    private static Robots parse(String... lines) {
        Robots robots = new Robots(lines.length);
        for (int i = 0; i < lines.length; i++) {
            String[] words = lines[i].split(" ");
            robots.allowed[i] = words[0].equals("allow");
            robots.prefixes[i] = words[1];
        }
        return robots;
    }

    /** The longest rule wins. */
    boolean allow(String address) {
        int longest = 0;
        boolean allow = true;
        for (int i = 0; i < prefixes.length; i++) {
            if (address.startsWith(prefixes[i]) && prefixes[i].length() > longest) {
                longest = prefixes[i].length();
                allow = allowed[i];
            }
        }
        return allow;
    }
}
