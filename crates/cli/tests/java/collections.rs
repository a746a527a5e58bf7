//! What calls on collections and arrays access inside the JDK: for each call, a program in which two threads race by
//! it, or one in which they do not although they use the same object. All run in one virtual machine.

use crate::common::{Folder, java};
use serde_json::Value;
use std::collections::BTreeSet;
use std::process::Command;

const SYNCHRONIZED: &str = "List<String> l = Collections.synchronizedList(new ArrayList<>(List.of(\"a\", \"b\")));";
const SYNCHRONIZED_MAP: &str =
    "Map<String, String> m = Collections.synchronizedMap(new HashMap<>(Map.of(\"a\", \"b\")));";
const LIST: &str = "List<String> l = new ArrayList<>(List.of(\"a\", \"b\"));";
const ITERATOR: &str = "Iterator<String> i = new ArrayList<>(List.of(\"a\", \"b\", \"c\")).iterator();";

/// Programs: what is declared, what two threads do, and whether that is a race.
const PROGRAMS: &[(&str, &str, &str, bool)] = &[
    // Views are only made.
    ("Map<String, Integer> m = new HashMap<>();", "m.put(\"a\", 1);", "m.keySet();", false),
    ("Map<String, Integer> m = new HashMap<>();", "m.put(\"a\", 1);", "m.values();", false),
    ("Map<String, Integer> m = new HashMap<>();", "m.put(\"a\", 1);", "m.entrySet();", false),
    ("TreeMap<String, Integer> m = new TreeMap<>();", "m.put(\"a\", 1);", "m.headMap(\"b\");", false),
    ("List<String> l = new ArrayList<>();", "l.add(\"a\");", "l.stream();", false),
    (
        "List<String> l = new ArrayList<>();",
        "synchronized (l) { l.add(\"a\"); }",
        "Stream<String> s = l.stream().filter(e -> true); synchronized (l) { s.count(); }",
        false,
    ),
    // What uses them up reads the collection.
    ("Map<String, Integer> m = new HashMap<>();", "m.put(\"a\", 1);", "m.keySet().contains(\"a\");", true),
    ("Map<String, Integer> m = new HashMap<>();", "m.put(\"a\", 1);", "m.values().size();", true),
    ("Map<String, Integer> m = new HashMap<>();", "m.get(\"a\");", "m.entrySet().removeIf(e -> true);", true),
    ("TreeMap<String, Integer> m = new TreeMap<>();", "m.put(\"a\", 1);", "m.headMap(\"b\").size();", true),
    ("TreeMap<String, Integer> m = new TreeMap<>();", "m.get(\"a\");", "m.tailMap(\"b\").clear();", true),
    ("List<String> l = new ArrayList<>();", "l.add(\"a\");", "l.stream().filter(e -> true).count();", true),
    ("List<String> l = new ArrayList<>(List.of(\"a\", \"b\"));", "l.size();", "l.subList(0, 1).clear();", true),
    // Elements of a list.
    ("List<String> l = new ArrayList<>(List.of(\"a\", \"b\"));", "l.set(0, \"c\");", "l.set(1, \"d\");", false),
    ("List<String> l = new ArrayList<>(List.of(\"a\", \"b\"));", "l.set(0, \"c\");", "l.get(1);", false),
    ("List<String> l = new ArrayList<>(List.of(\"a\", \"b\"));", "l.set(0, \"c\");", "l.set(0, \"d\");", true),
    ("List<String> l = new ArrayList<>(List.of(\"a\", \"b\"));", "l.set(0, \"c\");", "l.get(0);", true),
    ("List<String> l = new ArrayList<>(List.of(\"a\", \"b\"));", "l.set(0, \"c\");", "l.add(\"d\");", true),
    ("List<String> l = new ArrayList<>(List.of(\"a\"));", "l.set(0, \"c\");", "l.iterator().next();", true),
    ("List<String> l = Arrays.asList(\"a\", \"b\");", "l.set(0, \"c\");", "l.set(1, \"d\");", false),
    ("List<String> l = Arrays.asList(\"a\", \"b\");", "l.set(0, \"c\");", "l.get(0);", true),
    // What is found in a list says who comes first.
    (
        "List<String> l = new ArrayList<>(List.of(\"a\")); static int x;",
        "x = 1; synchronized (l) { l.set(0, \"b\"); }",
        "for (boolean is = false; !is; ) { synchronized (l) { is = l.contains(\"b\"); } } x++;",
        false,
    ),
    (
        "List<String> l = new LinkedList<>(List.of(\"a\")); static int x;",
        "x = 1; synchronized (l) { l.set(0, \"b\"); }",
        "for (boolean is = false; !is; ) { synchronized (l) { is = l.iterator().next() == \"b\"; } } x++;",
        false,
    ),
    (
        "List<String> l = new ArrayList<String>() { }; static int x;",
        "x = 1; synchronized (l) { l.add(\"b\"); }",
        "for (boolean is = false; !is; ) { synchronized (l) { is = !l.isEmpty(); } } x++;",
        false,
    ),
    (
        "List<String> l = Collections.synchronizedList(new ArrayList<>(List.of(\"a\"))); static int x;",
        "x = 1; l.set(0, \"b\");",
        "while (!l.contains(\"b\")) { } x++;",
        false,
    ),
    (
        "List<String> l = Collections.synchronizedList(new ArrayList<>(List.of(\"a\"))); static int x;",
        "x = 1; l.add(\"b\");",
        "while (l.size() == 1) { } x++;",
        false,
    ),
    // Copies, and all of a collection.
    ("List<String> l = new ArrayList<>();", "l.add(\"a\");", "new ArrayList<>(l);", true),
    ("Map<String, String> m = new HashMap<>();", "m.put(\"a\", \"b\");", "new ConcurrentHashMap<>(m);", true),
    ("List<String> l = new ArrayList<>();", "l.contains(\"a\");", "new ArrayList<>(l);", false),
    ("List<String> l = new ArrayList<>();", "l.add(\"a\");", "new ArrayList<String>().addAll(l);", true),
    (
        "Map<String, String> m = new HashMap<>();",
        "m.put(\"a\", \"b\");",
        "new HashMap<String, String>().putAll(m);",
        true,
    ),
    ("ArrayList<String> l = new ArrayList<>();", "l.add(\"a\");", "l.toString();", true),
    ("ArrayList<String> l = new ArrayList<>();", "l.add(\"a\");", "l.hashCode();", true),
    ("List<String> l = new ArrayList<>(), k = new ArrayList<>();", "l.size();", "l.equals(k);", false),
    // Iteration over a collection that synchronises its calls, without and with its lock.
    (SYNCHRONIZED, "l.add(\"a\");", "for (String s : l) { }", true),
    (SYNCHRONIZED, "l.add(\"a\");", "synchronized (l) { for (String s : l) { } }", false),
    (SYNCHRONIZED, "l.add(\"a\");", "l.listIterator();", true),
    (SYNCHRONIZED, "l.add(\"a\");", "synchronized (l) { l.listIterator(1).previous(); }", false),
    (SYNCHRONIZED, "l.add(\"a\");", "l.stream();", false),
    (SYNCHRONIZED, "l.add(\"a\");", "l.stream().filter(e -> true).count();", true),
    (SYNCHRONIZED, "l.add(\"a\");", "synchronized (l) { l.stream().filter(e -> true).count(); }", false),
    (SYNCHRONIZED, "l.add(\"a\");", "l.forEach(e -> { });", false),
    (SYNCHRONIZED, "l.add(\"a\");", "l.sort(null);", false),
    (SYNCHRONIZED, "l.add(\"a\");", "Collections.sort(l);", false),
    (SYNCHRONIZED, "l.add(\"a\");", "l.contains(\"b\"); l.size(); l.get(0); l.toString(); l.equals(l);", false),
    (SYNCHRONIZED, "l.add(\"a\");", "new ArrayList<>(l);", false),
    (SYNCHRONIZED, "l.set(0, \"a\");", "l.subList(0, 1).get(0);", false),
    (SYNCHRONIZED, "l.set(0, \"a\");", "l.subList(0, 1).iterator().next();", false),
    (SYNCHRONIZED, "l.set(0, \"a\");", "l.iterator().next();", true),
    (SYNCHRONIZED, "l.set(0, \"a\");", "Iterator<String> i = l.iterator(); i.next(); l.size();", true),
    (
        "List<String> k = new ArrayList<>(List.of(\"a\")), l = Collections.synchronizedList(k);",
        "l.set(0, \"b\");",
        "k.size();",
        false,
    ),
    (
        "List<String> k = new ArrayList<>(List.of(\"a\")), l = Collections.synchronizedList(k);",
        "l.add(\"b\");",
        "k.size();",
        true,
    ),
    (
        "Set<String> l = Collections.synchronizedSet(new HashSet<>(List.of(\"a\")));",
        "l.add(\"b\");",
        "for (Iterator<String> i = l.iterator(); i.hasNext(); ) { i.next(); break; }",
        true,
    ),
    (SYNCHRONIZED_MAP, "m.put(\"b\", \"c\");", "for (String k : m.keySet()) { break; }", true),
    (SYNCHRONIZED_MAP, "m.put(\"b\", \"c\");", "for (String v : m.values()) { break; }", true),
    (SYNCHRONIZED_MAP, "m.put(\"b\", \"c\");", "m.entrySet().iterator();", true),
    (SYNCHRONIZED_MAP, "m.put(\"b\", \"c\");", "m.keySet().stream().count();", true),
    (SYNCHRONIZED_MAP, "m.put(\"b\", \"c\");", "synchronized (m) { for (String k : m.keySet()) { } }", false),
    (SYNCHRONIZED_MAP, "m.put(\"b\", \"c\");", "synchronized (m) { for (String v : m.values()) { } }", false),
    (
        SYNCHRONIZED_MAP,
        "m.put(\"b\", \"c\");",
        "Set<String> s = m.keySet(); synchronized (s) { for (String k : s) { break; } }",
        true,
    ),
    (SYNCHRONIZED_MAP, "m.put(\"b\", \"c\");", "m.keySet().contains(\"a\"); m.values().size();", false),
    (SYNCHRONIZED_MAP, "m.put(\"b\", \"c\");", "m.forEach((k, v) -> { }); m.get(\"a\");", false),
    (SYNCHRONIZED_MAP, "m.merge(\"b\", \"c\", String::concat);", "m.keySet().removeIf(\"b\"::equals);", false),
    (
        "List<String> k = Collections.synchronizedList(new ArrayList<>()), l = Collections.unmodifiableList(k);",
        "k.add(\"b\");",
        "for (String s : l) { break; }",
        true,
    ),
    (
        "List<String> k = Collections.synchronizedList(new ArrayList<>()), l = Collections.unmodifiableList(k);",
        "k.add(\"b\");",
        "l.contains(\"a\"); l.size();",
        false,
    ),
    // One synchronized collection around another: the list is accessed once both locks are held.
    (
        "List<String> k = Collections.synchronizedList(new ArrayList<>());
    static final Collection<String> l = Collections.synchronizedCollection(k);",
        "k.add(\"b\");",
        "l.isEmpty(); l.add(\"c\");",
        false,
    ),
    (
        "List<String> k = Collections.synchronizedList(new ArrayList<>());
    static final Collection<String> l = Collections.synchronizedCollection(Collections.unmodifiableCollection(k));",
        "k.add(\"b\");",
        "l.size();",
        false,
    ),
    (
        "List<String> k = Collections.synchronizedList(new ArrayList<>());
    static final Collection<String> l = Collections.synchronizedCollection(k);",
        "k.add(\"b\");",
        "synchronized (l) { for (String s : l) { break; } }",
        true,
    ),
    // Other wrappers, views that the JDK makes, and what is known only as something to iterate over.
    (
        "List<String> k = new ArrayList<>(List.of(\"a\")), l = Collections.unmodifiableList(k);",
        "k.add(\"b\");",
        "l.get(0);",
        true,
    ),
    (
        "Map<String, String> m = new HashMap<>(), f = Collections.unmodifiableMap(m);",
        "m.put(\"a\", \"b\");",
        "f.values().contains(\"c\");",
        true,
    ),
    (
        "List<String> k = new ArrayList<>(List.of(\"a\")), l = Collections.unmodifiableList(k);",
        "k.size();",
        "try { l.add(\"b\"); } catch (UnsupportedOperationException e) { }",
        false,
    ),
    (
        "List<String> k = new ArrayList<>(List.of(\"a\")); static final Iterable<String> l = k;",
        "k.add(\"b\");",
        "for (String s : l) { break; }",
        true,
    ),
    // An iterator that two threads share.
    (ITERATOR, "i.next();", "i.next();", true),
    (ITERATOR, "synchronized (i) { i.next(); }", "synchronized (i) { i.next(); }", false),
    (ITERATOR, "synchronized (i) { i.next(); }", "i.remove();", true),
    ("Iterator<String> i = new Vector<>(List.of(\"a\", \"b\")).iterator();", "i.next();", "i.next();", false),
    // What reads the elements of a list.
    (LIST, "l.set(1, \"c\");", "l.toArray();", true),
    (LIST, "l.set(1, \"c\");", "l.toArray(new String[0]);", true),
    (LIST, "l.set(1, \"c\");", "l.contains(\"x\");", true),
    (LIST, "l.set(1, \"c\");", "l.contains(\"a\");", false),
    (LIST, "l.set(1, \"c\");", "l.indexOf(\"x\");", true),
    (LIST, "l.set(1, \"c\");", "l.lastIndexOf(\"x\");", true),
    (LIST, "l.set(1, \"c\");", "l.indexOf(\"a\");", false),
    (LIST, "l.set(1, \"c\");", "l.hashCode();", true),
    (LIST, "l.set(1, \"b\");", "l.equals(List.of(\"a\", \"b\"));", true),
    (LIST, "l.set(1, \"b\");", "l.equals(List.of(\"a\"));", false),
    (LIST, "l.set(0, \"c\");", "l.forEach(e -> { });", true),
    (LIST, "l.set(1, \"c\");", "new ArrayList<>(l);", true),
    (LIST, "l.get(1);", "l.toArray(); l.contains(\"x\"); l.toString(); l.forEach(e -> { });", false),
    (
        "List<String> l = new ArrayList<>(List.of(\"a\", \"b\"));",
        "synchronized (l) { l.set(1, \"c\"); }",
        "synchronized (l) { l.toArray(); l.indexOf(\"x\"); }",
        false,
    ),
    // What makes a text of a collection, known by an interface.
    (LIST, "l.add(\"c\");", "l.toString();", true),
    (LIST, "l.add(\"c\");", "synchronized (l) { l.toString(); }", true),
    (LIST, "synchronized (l) { l.add(\"c\"); }", "synchronized (l) { l.toString(); }", false),
    ("Map<String, Integer> m = new HashMap<>();", "m.put(\"a\", 1);", "m.toString();", true),
    ("Map<String, Integer> m = new HashMap<>();", "m.put(\"a\", 1);", "m.keySet().toString();", true),
    ("Map<String, Integer> m = new HashMap<>();", "m.get(\"a\");", "m.toString();", false),
    (LIST, "l.add(\"c\");", "String.valueOf(l);", true),
    (LIST, "l.add(\"c\");", "Objects.toString(l);", true),
    (LIST, "l.add(\"c\");", "new StringBuilder().append(l);", true),
    (LIST, "synchronized (l) { l.add(\"c\"); }", "synchronized (l) { String.valueOf(l); }", false),
    // What the JDK does to a collection that synchronises its calls.
    (SYNCHRONIZED, "l.add(\"c\");", "String.join(\",\", l);", true),
    (SYNCHRONIZED, "l.add(\"c\");", "synchronized (l) { String.join(\",\", l); }", false),
    (SYNCHRONIZED, "l.add(\"c\");", "Collections.max(l);", true),
    (SYNCHRONIZED, "l.add(\"c\");", "synchronized (l) { Collections.max(l); }", false),
    (SYNCHRONIZED, "l.set(1, \"c\");", "l.toArray(); l.contains(\"x\"); l.forEach(e -> { });", false),
    (
        "List<String> k = new ArrayList<>(List.of(\"a\")), l = Collections.synchronizedList(k);",
        "k.add(\"b\");",
        "new ArrayList<>(l);",
        true,
    ),
    // Arrays.
    ("int[] a = {1, 2, 3, 4};", "a[3] = 4;", "Arrays.mismatch(a, new int[] {1, 2, 3, 4});", true),
    ("int[] a = {1, 2, 3, 4};", "a[1] = 2;", "Arrays.mismatch(a, new int[] {1, 2, 9, 4});", true),
    ("int[] a = {1, 2, 3, 4};", "a[3] = 4;", "Arrays.mismatch(a, new int[] {1, 9, 3, 4});", false),
    ("int[] a = {1, 2, 3, 4};", "a[3] = 4;", "Arrays.compare(a, new int[] {1, 2, 3, 4});", true),
    ("int[] a = {1, 2, 3, 4};", "int x = a[3];", "Arrays.compare(a, new int[] {1, 2, 3, 4});", false),
    ("long[] a = {1, 2, 3, 4, 5};", "a[2] = 3;", "Arrays.binarySearch(a, 3);", true),
    ("long[] a = {1, 2, 3, 4, 5};", "a[4] = 6;", "Arrays.binarySearch(a, 3);", false),
    ("int[] a = {1, 2, 3, 4}, b = new int[4];", "a[3] = 5;", "System.arraycopy(a, 0, b, 0, 4);", true),
    ("int[] a = {1, 2, 3, 4}, b = new int[4];", "a[3] = 5;", "System.arraycopy(a, 0, b, 0, 3);", false),
    ("int[] a = {1, 2, 3, 4}, b = new int[4];", "int x = b[2];", "System.arraycopy(a, 0, b, 1, 2);", true),
    ("int[] a = {1, 2, 3, 4};", "a[2] = 7;", "Arrays.fill(a, 1, 3, 9);", true),
    ("int[] a = {1, 2, 3, 4};", "a[3] = 7;", "Arrays.fill(a, 1, 3, 9);", false),
    ("int[] a = {1, 2, 3, 4};", "a[0] = 7;", "Arrays.sort(a);", true),
    ("int[] a = {1, 2, 3, 4};", "a[1] = 7;", "Arrays.copyOf(a, 2);", true),
    ("int[] a = {1, 2, 3, 4};", "a[3] = 7;", "Arrays.copyOf(a, 2);", false),
    ("int[] a = {1, 2, 3, 4};", "a[3] = 7;", "Arrays.copyOfRange(a, 2, 9);", true),
    ("int[] a = {1, 2, 3, 4};", "a[3] = 7;", "Arrays.toString(a);", true),
    ("int[] a = {1, 2, 3, 4};", "a[3] = 7;", "Arrays.hashCode(a);", true),
    ("int[] a = {1, 2, 3, 4};", "a[3] = 4;", "Arrays.equals(a, new int[] {1, 2, 3, 4});", true),
    ("int[] a = {1, 2, 3, 4};", "a[3] = 4;", "Arrays.equals(a, new int[] {9, 2, 3, 4});", false),
    ("String[] a = {\"a\", \"b\"};", "a[1] = \"c\";", "a.clone();", true),
    ("int[] a = {1, 2, 3, 4};", "int x = a[1];", "a.clone();", false),
];

fn source(number: usize, (declared, first, second, _): &(&str, &str, &str, bool)) -> String {
    format!(
        "import java.util.*;\nimport java.util.concurrent.*;\nimport java.util.stream.*;\n\n\
         public class Case{number:03} {{\n    static final {declared}\n\n    \
         static void first() {{\n        {first}\n    }}\n\n    \
         static void second() {{\n        {second}\n    }}\n\n    \
         public static void main(String[] args) throws Exception {{\n        \
         Thread one = new Thread(Case{number:03}::first), two = new Thread(Case{number:03}::second);\n        \
         one.start();\n        two.start();\n        one.join();\n        two.join();\n    }}\n}}\n"
    )
}

#[test]
fn calls_access_what_they_do() {
    let work = Folder::new();
    let mut main = String::from("public class Main {\n    public static void main(String[] args) throws Exception {\n");
    let mut files = vec!["Main.java".to_owned()];
    for (number, program) in PROGRAMS.iter().enumerate() {
        work.write(&format!("Case{number:03}.java"), source(number, program));
        files.push(format!("Case{number:03}.java"));
        main.push_str(&format!("        Case{number:03}.main(args);\n"));
    }
    work.write("Main.java", main + "    }\n}\n");
    let mut javac = Command::new("javac");
    javac.args(["--release", "11", "-nowarn", "-g", "-d", "classes"]).args(&files);
    let compiled = javac.current_dir(work.path("")).output().expect("a JDK is needed: ./test installs it");
    assert!(compiled.status.success(), "{}", String::from_utf8_lossy(&compiled.stderr));
    let ran = work.run_within(120, &["run", "--json", "found.json", "--", &java(), "-cp", "classes", "Main"]);
    assert_eq!(ran.code, Some(1), "{}", ran.stderr);
    let json: Value = serde_json::from_slice(&work.read("found.json")).expect("JSON");
    let mut racy = BTreeSet::new();
    for finding in json["findings"].as_array().expect("findings").iter().filter(|one| one["status"] != "warning") {
        assert_eq!(finding["kind"], "race", "{finding}");
        let sites = finding["sites"].as_array().into_iter().flatten().filter_map(Value::as_str);
        racy.extend(sites.filter_map(|site| site.strip_prefix("Case")?.get(..3)?.parse::<usize>().ok()));
    }
    let wrong = |(number, program): &(usize, &(_, _, _, bool))| racy.contains(number) != program.3;
    let wrong: Vec<_> = PROGRAMS.iter().enumerate().filter(wrong).collect();
    assert!(wrong.is_empty(), "{wrong:#?}");
}
