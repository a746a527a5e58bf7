//! ThreadSanitizer's suppression files: which findings the user does not want to hear of.
//!
//! A line is `type:pattern`. A pattern is found anywhere in a function's, file's, module's or object's name; `*`
//! stands for anything, `^` at its beginning and `$` at its end hold it to the name's. `#` opens a comment line.

use crate::{Finding, Kind, Side};
use serde::{Deserialize, Serialize};

/// What a rule speaks of.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Type {
    /// Findings of a kind, by any frame of a stack or an object.
    Kind(Kind),
    /// Deadlocks of both kinds, those that can happen and orders of locks that contradict each other.
    Deadlock,
    /// Races, by the innermost frame of an access.
    RaceTop,
    /// Races of accesses that a library makes, or that are made for it in a function it calls.
    CalledFromLib,
    /// What ThreadSanitizer reports and we have no findings of; such rules are read, and match nothing.
    Other,
}

/// A rule of a suppression file.
#[derive(Clone, PartialEq, Eq, Debug)]
struct Rule {
    type_of: Type,
    /// The line as it stands in the file.
    text: String,
    pattern: Pattern,
    used: u64,
}

/// Where a suppression file is wrong.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("line {line}: {message}")]
pub struct SuppressionError {
    /// The line, counted from 1.
    pub line: usize,
    /// What is wrong with it.
    pub message: String,
}

/// The rules of suppression files, and how often each was used.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct Suppressions {
    rules: Vec<Rule>,
}

/// What became of the rules: part of a report.
#[derive(Clone, PartialEq, Eq, Default, Debug, Serialize, Deserialize)]
pub struct SuppressionFigures {
    /// The rules that matched, and how many findings each.
    #[serde(default)]
    pub used: Vec<UsedRule>,
    /// The rules that matched nothing.
    #[serde(default)]
    pub unused: Vec<String>,
}

/// A rule that matched.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct UsedRule {
    /// The rule as it stands in its file.
    pub rule: String,
    /// How many findings it matched.
    pub findings: u64,
}

impl Suppressions {
    /// Adds the rules of a file.
    pub fn read(&mut self, text: &str) -> Result<(), SuppressionError> {
        for (line, text) in (1..).zip(text.lines()) {
            let text = text.trim();
            if text.is_empty() || text.starts_with('#') {
                continue;
            }
            let wrong = |message: String| SuppressionError { line, message };
            let (name, pattern) = text.split_once(':').ok_or_else(|| wrong("not `type:pattern`".to_owned()))?;
            let type_of = type_named(name.trim()).ok_or_else(|| {
                wrong(format!("`{name}` is none of race, race_top, deadlock, mutex, thread, signal, called_from_lib"))
            })?;
            let pattern = Pattern::new(pattern.trim()).ok_or_else(|| wrong("the pattern is empty".to_owned()))?;
            self.rules.push(Rule { type_of, text: text.to_owned(), pattern, used: 0 });
        }
        Ok(())
    }

    /// Marks the findings that a rule speaks of. The first rule that does is counted.
    pub fn apply(&mut self, findings: &mut [Finding]) {
        for finding in findings {
            if let Some(rule) = self.rules.iter_mut().find(|rule| rule.matches(finding)) {
                rule.used += 1;
                finding.suppressed = true;
            }
        }
    }

    /// Which rules were used, and which were not.
    pub fn figures(&self) -> SuppressionFigures {
        let (used, unused): (Vec<&Rule>, Vec<&Rule>) = self.rules.iter().partition(|rule| rule.used > 0);
        SuppressionFigures {
            used: used.iter().map(|rule| UsedRule { rule: rule.text.clone(), findings: rule.used }).collect(),
            unused: unused.iter().map(|rule| rule.text.clone()).collect(),
        }
    }
}

/// The types of ThreadSanitizer, and our kinds of findings that it does not have.
fn type_named(name: &str) -> Option<Type> {
    Some(match name {
        "race" => Type::Kind(Kind::Race),
        "race_top" => Type::RaceTop,
        "deadlock" => Type::Deadlock,
        "called_from_lib" => Type::CalledFromLib,
        "mutex" => Type::Kind(Kind::Misuse),
        "thread" | "signal" => Type::Other,
        "lock-order" => Type::Kind(Kind::LockOrder),
        "atomicity" => Type::Kind(Kind::Atomicity),
        "lost-wakeup" => Type::Kind(Kind::LostWakeup),
        "wait-without-loop" => Type::Kind(Kind::WaitWithoutLoop),
        "hang" => Type::Kind(Kind::Hang),
        "property" => Type::Kind(Kind::Property),
        _ => return None,
    })
}

impl Rule {
    fn matches(&self, finding: &Finding) -> bool {
        let any = |frame: &String| self.pattern.matches_frame(frame);
        let anywhere = || {
            finding.objects.iter().any(any)
                || finding
                    .sides
                    .iter()
                    .any(|side| any(&side.site) || side.stack.iter().any(any) || side.libraries.iter().any(any))
        };
        // Where no stack was recorded, the site is the innermost frame.
        let top = |side: &Side| {
            any(&side.site) || side.stack.first().is_some_and(any) || side.libraries.first().is_some_and(any)
        };
        let race = finding.kind == Kind::Race;
        match self.type_of {
            Type::Kind(kind) => finding.kind == kind && anywhere(),
            Type::Deadlock => matches!(finding.kind, Kind::Deadlock | Kind::LockOrder) && anywhere(),
            Type::RaceTop => race && finding.sides.iter().any(top),
            // The innermost frame is the code that accesses, or that calls a function of the C library which does.
            Type::CalledFromLib => race && finding.sides.iter().any(top),
            Type::Other => false,
        }
    }
}

/// A pattern with wildcards.
#[derive(Clone, PartialEq, Eq, Debug)]
struct Pattern {
    at_start: bool,
    at_end: bool,
    /// What stands between the asterisks.
    parts: Vec<String>,
}

impl Pattern {
    fn new(text: &str) -> Option<Pattern> {
        if text.is_empty() {
            return None;
        }
        let (at_start, text) = text.strip_prefix('^').map_or((false, text), |rest| (true, rest));
        let (at_end, text) = text.strip_suffix('$').map_or((false, text), |rest| (true, rest));
        Some(Pattern { at_start, at_end, parts: text.split('*').map(str::to_owned).collect() })
    }

    /// Whether it matches a frame (`main prog.c:12`, `lib.so+0x1f`), or one of the names in it.
    fn matches_frame(&self, frame: &str) -> bool {
        let word = |word: &str| {
            let bare = word.trim_matches(['(', ')', ',']);
            [word, bare, crate::site_identity(bare)].into_iter().any(|name| self.matches_file(name))
        };
        self.matches(frame) || frame.split_whitespace().any(word)
    }

    /// A path, or its last part: `^prog.c$` means a file in any folder.
    fn matches_file(&self, name: &str) -> bool {
        self.matches(name) || name.rsplit_once('/').is_some_and(|(_, last)| self.matches(last))
    }

    fn matches(&self, name: &str) -> bool {
        if name.is_empty() {
            return false;
        }
        let (first, rest) = match self.parts.split_first() {
            Some(split) => split,
            None => return true,
        };
        let mut at = match (self.at_start, name.find(first.as_str())) {
            (true, _) if !name.starts_with(first.as_str()) => return false,
            (true, _) => first.len(),
            (false, Some(found)) => found + first.len(),
            (false, None) => return false,
        };
        let Some((last, middle)) = rest.split_last() else {
            // Without an asterisk, the last place it occurs is what the end may hold it to.
            return !self.at_end || name.ends_with(first.as_str()) && (!self.at_start || name == first);
        };
        for part in middle {
            match name[at..].find(part.as_str()) {
                Some(found) => at += found + part.len(),
                None => return false,
            }
        }
        if self.at_end { name[at..].ends_with(last.as_str()) } else { name[at..].contains(last.as_str()) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Evidence;

    fn rules(text: &str) -> Suppressions {
        let mut suppressions = Suppressions::default();
        suppressions.read(text).expect("rules");
        suppressions
    }

    fn finding(kind: Kind) -> Finding {
        let mut finding = Finding::new(kind, "d", Evidence::observed(None), "f".to_owned(), String::new());
        finding.objects = vec!["account.balance".to_owned()];
        let stack = |frames: &[&str]| frames.iter().map(|&f| f.to_owned()).collect();
        let one = Side { stack: stack(&["deposit bank.c:12", "worker bank.c:40"]), ..Side::default() };
        let two = Side {
            site: "bank.c:13".to_owned(),
            stack: stack(&["Log::add (/opt/liblog.so+0x1f)", "main"]),
            ..one.clone()
        };
        finding.sides = vec![one, two];
        finding
    }

    fn silences(text: &str, kind: Kind) -> bool {
        let mut all = [finding(kind)];
        let mut suppressions = rules(text);
        suppressions.apply(&mut all);
        let figures = suppressions.figures();
        assert_eq!(figures.used.len(), usize::from(all[0].suppressed));
        assert_eq!(figures.unused.len(), usize::from(!all[0].suppressed));
        all[0].suppressed
    }

    #[test]
    fn a_rule_speaks_of_functions_files_modules_and_objects() {
        for pattern in [
            "deposit",
            "worker",
            "^worker$",
            "bank.c",
            "^bank.c$",
            "liblog.so",
            "^liblog.so$",
            "/opt/",
            "^Log::*",
            "Log::add",
            "*",
            "^account.balance$",
            "balance",
            "dep*it",
            "^w*er$",
            "main$",
            "posit bank",
        ] {
            assert!(silences(&format!("race:{pattern}"), Kind::Race), "{pattern}");
        }
        for pattern in ["^orker", "work$", "^bank$", "deposi*x", "withdraw", "^main.c", "^ain"] {
            assert!(!silences(&format!("race:{pattern}"), Kind::Race), "{pattern}");
        }
    }

    #[test]
    fn each_type_speaks_of_its_kind() {
        for (rule, kind, silent) in [
            ("race:worker", Kind::Race, true),
            ("race:worker", Kind::Deadlock, false),
            ("race_top:deposit", Kind::Race, true),
            ("race_top:worker", Kind::Race, false),
            ("race_top:bank.c", Kind::Race, true),
            ("deadlock:worker", Kind::Deadlock, true),
            ("deadlock:worker", Kind::LockOrder, true),
            ("deadlock:worker", Kind::Race, false),
            ("called_from_lib:liblog.so", Kind::Race, true),
            ("called_from_lib:liblog.so", Kind::Deadlock, false),
            ("mutex:worker", Kind::Race, false),
            ("mutex:worker", Kind::Misuse, true),
            ("thread:*", Kind::Race, false),
            ("signal:*", Kind::Race, false),
            ("atomicity:worker", Kind::Atomicity, true),
            ("lost-wakeup:worker", Kind::LostWakeup, true),
            ("property:worker", Kind::Property, true),
        ] {
            assert_eq!(silences(rule, kind), silent, "{rule} {kind:?}");
        }
    }

    #[test]
    fn comments_and_blanks_are_skipped_and_mistakes_name_their_line() {
        assert_eq!(rules("# race:x\n\n  race: a  \n\tdeadlock:b").figures().unused, ["race: a", "deadlock:b"]);
        let fails = |text: &str| Suppressions::default().read(text).expect_err(text).to_string();
        assert_eq!(fails("# fine\nrace"), "line 2: not `type:pattern`");
        assert!(fails("rase:x").starts_with("line 1: `rase` is none of race, "));
        assert_eq!(fails("race:a\nrace:  "), "line 2: the pattern is empty");
    }

    #[test]
    fn the_first_rule_that_matches_is_counted() {
        let mut all = [finding(Kind::Race), finding(Kind::Race), finding(Kind::Deadlock)];
        let mut suppressions = rules("race:deposit\nrace:worker\ndeadlock:nobody");
        suppressions.apply(&mut all);
        let figures = suppressions.figures();
        assert_eq!(figures.used, [UsedRule { rule: "race:deposit".to_owned(), findings: 2 }]);
        assert_eq!(figures.unused, ["race:worker", "deadlock:nobody"]);
        assert!(!all[2].suppressed);
    }

    /// The definition: a letter matches itself, an asterisk any number of letters.
    fn whole(pattern: &[u8], name: &[u8]) -> bool {
        match pattern.split_first() {
            None => name.is_empty(),
            Some((b'*', rest)) => (0..=name.len()).any(|n| whole(rest, &name[n..])),
            Some((c, rest)) => name.first() == Some(c) && whole(rest, &name[1..]),
        }
    }

    #[test]
    fn patterns_match_what_the_definition_says() {
        let words = |letters: &[u8], longest: u32| {
            let n = letters.len() as u32;
            let word = move |length: u32, mut k: u32| -> String {
                (0..length)
                    .map(|_| {
                        let c = letters[(k % n) as usize];
                        k /= n;
                        char::from(c)
                    })
                    .collect()
            };
            (0..=longest)
                .flat_map(move |l| (0..n.pow(l)).map(move |k| (l, k)))
                .map(move |(l, k)| word(l, k))
                .collect::<Vec<_>>()
        };
        let names: Vec<String> = words(b"ab", 6).into_iter().filter(|w| !w.is_empty()).collect();
        for body in words(b"ab*", 4) {
            for (start, end) in [("", ""), ("^", ""), ("", "$"), ("^", "$")] {
                let Some(pattern) = Pattern::new(&format!("{start}{body}{end}")) else { continue };
                let (before, after) = (if start.is_empty() { "*" } else { "" }, if end.is_empty() { "*" } else { "" });
                let definition = format!("{before}{body}{after}");
                for name in &names {
                    let expected = whole(definition.as_bytes(), name.as_bytes());
                    assert_eq!(pattern.matches(name), expected, "{start}{body}{end} {name}");
                }
            }
        }
    }
}
