//! For each row of the tables, a program that is right only because of it, and one that has a race. They are made
//! from `pairs.table`, whose head says how.

use std::collections::BTreeMap;
use std::fmt::Write;

const PAIRS: &str = include_str!("pairs.table");

/// A program.
pub(crate) struct Program {
    /// The name of its class and its file.
    pub(crate) name: String,
    /// Its text.
    pub(crate) source: String,
    /// Whether `read` and `write` of `x` race.
    pub(crate) is_racy: bool,
    /// The row.
    pub(crate) row: String,
    /// The first release of Java that has what it uses.
    pub(crate) release: u16,
}

/// The code that the programs of a group share.
#[derive(Default)]
struct Group<'t> {
    declared: &'t str,
    /// By `>`, `<`, `[` and `]`.
    code: BTreeMap<&'t str, &'t str>,
}

/// All programs.
pub(crate) fn programs() -> Vec<Program> {
    let mut group = Group::default();
    let mut all = Vec::new();
    let mut number = 0;
    // A line that begins with spaces continues the one before it; a backslash continues a word.
    let table = PAIRS.replace("\\\n    ", "").replace("\n    ", " ");
    for line in table.lines().filter(|line| !line.is_empty() && !line.starts_with('#')) {
        let (first, rest) = line.split_once(' ').unwrap_or((line, ""));
        match first {
            "=" => group = Group { declared: rest, code: BTreeMap::new() },
            ">" | "<" | "[" | "]" => {
                group.code.insert(first, rest);
            }
            _ => {
                number += 1;
                of_row(line, number, &group, &mut all);
            }
        }
    }
    all
}

fn of_row(line: &str, number: usize, group: &Group, all: &mut Vec<Program>) {
    let (line, release) = line.split_once(" // ").unwrap_or((line, "11"));
    let words = if line.starts_with("monitors ") { 2 } else { 3 };
    let [row, role, code] = {
        let ends: Vec<usize> = line.match_indices(' ').map(|(at, _)| at).collect();
        let (row, role) = (ends[words - 1], ends[words]);
        [&line[..row], &line[row + 1..role], &line[role + 1..]]
    };
    let (role, is_ordering) = role.strip_prefix('~').map_or((role, true), |role| (role, false));
    for is_racy in [false, true] {
        if !is_racy && !is_ordering {
            continue;
        }
        // If the row orders nothing, the write may come first.
        let has_late = is_racy && is_ordering;
        let name = format!("Pair{number:03}{}", if is_racy { "Racy" } else { "Safe" });
        let of = |sign: &str| if role == sign { code } else { group.code.get(sign).copied().unwrap_or("") };
        let threads = match role {
            "@" => {
                let (safe, racy) = code.split_once(" || ").unwrap_or(("", code));
                main(if is_racy { racy } else { safe })
            }
            ">" | "<" => {
                let first = if has_late { format!("{} write();", of(">")) } else { format!("write(); {}", of(">")) };
                two(&first, &format!("{} read();", of("<")))
            }
            _ => {
                // Both threads do the same, so it does not matter which is first.
                let [first, second] = ["write();", "read();"].map(|act| {
                    let (enter, leave) = (of("["), of("]"));
                    if has_late { format!("{enter} {leave} {act}") } else { format!("{enter} {act} {leave}") }
                });
                two(&first, &second)
            }
        };
        let mut source = String::new();
        let packages = ["", ".concurrent", ".concurrent.atomic", ".concurrent.locks", ".function", ".stream"];
        let write = (|| {
            writeln!(source, "// {}: {row}", if is_racy { "A race" } else { "Right" })?;
            packages.iter().try_for_each(|package| writeln!(source, "import java.util{package}.*;"))?;
            writeln!(source, "import java.lang.invoke.*;\n\npublic class {name} {{\n    static int x;")?;
            if !group.declared.is_empty() {
                writeln!(source, "    {}", group.declared.replace("Me.class", &format!("{name}.class")))?;
            }
            writeln!(source, "{COMMON}{}}}", threads.replace("Me::", &format!("{name}::")))
        })();
        write.expect("a string");
        let release = release.trim().parse().expect("a release");
        all.push(Program { name, source, is_racy, row: row.to_owned(), release });
    }
}

fn two(first: &str, second: &str) -> String {
    let methods = [("first", first), ("second", second)]
        .map(|(name, code)| format!("\n    static void {name}() throws Exception {{\n        {code}\n    }}\n"));
    let code = "Thread one = new Thread(() -> quietly(Me::first));\n        \
                Thread two = new Thread(() -> quietly(Me::second));\n        \
                one.start();\n        two.start();\n        one.join();\n        two.join();";
    methods.concat() + &main(code)
}

fn main(code: &str) -> String {
    format!("\n    public static void main(String[] args) throws Exception {{\n        {code}\n    }}\n")
}

/// What all programs share.
const COMMON: &str = r#"
    interface Act {
        void run() throws Exception;
    }

    static void quietly(Act act) {
        try {
            act.run();
        } catch (Exception e) {
            throw new IllegalStateException(e);
        }
    }

    /** Whether there are none, by a look that orders nothing: only the JDK's own code asks. */
    static boolean none(Object all) {
        if (all instanceof Map)
            return Collections.synchronizedMap((Map<?, ?>) all).isEmpty();
        return Collections.synchronizedCollection((Collection<?>) all).isEmpty();
    }

    static void write() {
        x = 1;
    }

    static void read() {
        if (x == 7)
            System.out.println("seven");
    }

    static class Reads extends RecursiveAction {
        protected void compute() {
            read();
        }
    }

    static class Writes extends RecursiveAction {
        protected void compute() {
            write();
        }
    }
"#;
