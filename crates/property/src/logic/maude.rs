//! Maude as the home of a logic: the user's module rewrites states, one `reduce` for each new (state, letter).

use super::child::Talk;
use super::{Answer, Logic, LogicError, Starter};
use std::path::Path;
use std::process::Command;

/// The modules that come with Foretrace, by file name: the first is loaded before any other, the others show how a
/// logic is written, and are found by their names where the user has no such file.
pub const SHIPPED: [(&str, &str); 4] = [
    ("foretrace.maude", include_str!("../../logics/foretrace.maude")),
    ("prop.maude", include_str!("../../logics/prop.maude")),
    ("ltl.maude", include_str!("../../logics/ltl.maude")),
    ("ptltl.maude", include_str!("../../logics/ptltl.maude")),
];

/// The text of a shipped file, with what it loads.
fn shipped(file: &str) -> Option<String> {
    let (_, text) = SHIPPED.iter().find(|(name, _)| *name == file)?;
    let line = |line: &str| match line.strip_prefix("load ") {
        Some(other) => shipped(&format!("{}.maude", other.trim())).unwrap_or_default(),
        None => line.to_owned(),
    };
    Some(text.lines().map(|l| line(l) + "\n").collect())
}

/// A logic in a module of Maude's. What the module must define is said in `foretrace.maude` ([`SHIPPED`]), which is
/// loaded before it.
pub struct Maude {
    talk: Talk,
    formula: String,
    /// Counts the questions, so that each has its own end mark.
    asked: u64,
    /// Lines sent so far: Maude counts them when it complains.
    lines: usize,
}

/// The user's module as others see it: without the variables of its equations.
const BARE: &str = "FORETRACE-BARE";
/// The module in which everything is asked: the user's, with the atoms of the property.
const ASKED: &str = "FORETRACE-ASKED";

/// Answers on one line each, and nothing else but complaints, whatever a file that was loaded has set.
const SETTINGS: &str = "set show command off .\nset show timing off .\nset show stats off .\nset trace off .\n\
    set break off .\nset profile off .\nset print attribute off .\nset print format off .\nset print graph off .\n\
    set print conceal off .\nset print mixfix on .\nset print color off .\n";

/// What Maude made of a term.
struct Reduced {
    /// Its sort (in brackets: a kind) and its normal form.
    result: Option<(String, String)>,
    /// The first thing complained of.
    complaint: Option<String>,
}

impl Maude {
    /// Starts Maude, loads the module and declares the atoms.
    pub(super) fn start(
        starter: &Starter,
        (file, module): (&str, &str),
        formula: &[String],
        atoms: &[String],
        folder: &Path,
    ) -> Result<Maude, LogicError> {
        let path = folder.join(file);
        let shown = path.display().to_string();
        let text = match std::fs::read_to_string(&path) {
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => shipped(file).ok_or(error),
            read => read,
        };
        let text = text.map_err(|error| LogicError::Load { what: shown.clone(), reason: error.to_string() })?;
        let formula = formula.join(" ");
        if let Some(reason) = unaskable(&formula) {
            return Err(LogicError::Formula { formula, reason });
        }
        let mut command = Command::new(&starter.maude);
        command.args(["-no-banner", "-no-advise", "-no-wrap", "-no-ansi-color", "-no-tecla"]);
        // What a module loads itself, it names from its own folder; Maude believes PWD where it is.
        if let Some(own) = path.parent().filter(|own| own.is_dir()) {
            let own = std::path::absolute(own)
                .map_err(|error| LogicError::Load { what: shown.clone(), reason: error.to_string() })?;
            command.env("PWD", &own).current_dir(&own);
        }
        let talk = Talk::start(command, true, "; on Debian: apt-get install maude", starter.patience)?;
        let mut maude = Maude { talk, formula, asked: 0, lines: 0 };
        maude.load(SHIPPED[0].0, SHIPPED[0].1, &[])?;
        maude.load(&shown, &text, &[])?;
        let place = format!("module {module}");
        maude.load(&place, &format!("fmod {BARE} is including {module} . endfm\n"), &[])?;
        maude.declare(atoms, &place)?;
        Ok(maude)
    }

    /// Declares the atoms: names that mean nothing yet.
    fn declare(&mut self, atoms: &[String], place: &str) -> Result<(), LogicError> {
        let clash = |name: &str| LogicError::Clash { name: name.to_owned(), place: place.to_owned() };
        for atom in atoms {
            // A name that the module has, too, would be two things at once, and Maude might take the other.
            if self.reduce(BARE, atom, atom)?.result.is_some() {
                return Err(clash(atom));
            }
        }
        let ops = if atoms.is_empty() { String::new() } else { format!("ops {} : -> Atom .", atoms.join(" ")) };
        self.load(place, &format!("fmod {ASKED} is including {BARE} . {ops} endfm\n"), atoms)?;
        for atom in atoms {
            let Reduced { result, complaint } = self.reduce(ASKED, atom, atom)?;
            if complaint.is_some() || result != Some(("Atom".to_owned(), atom.clone())) {
                return Err(clash(atom));
            }
        }
        Ok(())
    }

    fn send(&mut self, text: String) {
        self.lines += text.matches('\n').count();
        self.talk.send(text);
    }

    /// Sends text that declares these atoms, and hears what Maude has to say against it.
    fn load(&mut self, what: &str, text: &str, atoms: &[String]) -> Result<(), LogicError> {
        let failed = |reason: String| LogicError::Load { what: what.to_owned(), reason };
        let before = self.lines;
        self.send(format!("{text}\n{SETTINGS}"));
        let heard = self.reduce_unless("FORETRACE", "pending", what, |line| {
            // An atom like `x_1` looks to Maude as if it had a place for an argument; it is understood all the same.
            line.contains("number of underscores")
                && atoms.iter().any(|atom| line.ends_with(&format!(" (0) for operator {atom}.")))
        });
        let complaint = match heard {
            // Maude waits for the end of what began in the text.
            Err(LogicError::Hangs { waited, .. }) => {
                let reason = format!("Maude did not come to its end in {waited:?}; is a module or a parenthesis open?");
                return Err(failed(reason));
            }
            heard => heard?.complaint,
        };
        match complaint {
            Some(complaint) => Err(failed(own_lines(&complaint, before))),
            None => Ok(()),
        }
    }

    /// The normal form of a term.
    fn reduce(&mut self, module: &str, term: &str, question: &str) -> Result<Reduced, LogicError> {
        self.reduce_unless(module, term, question, |_| false)
    }

    fn reduce_unless(
        &mut self,
        module: &str,
        term: &str,
        question: &str,
        harmless: impl Fn(&str) -> bool,
    ) -> Result<Reduced, LogicError> {
        self.asked += 1;
        // The mark is a quoted identifier of Maude's own: whatever the module does, it reduces to itself.
        let mark = format!("'done-{}", self.asked);
        self.send(format!("red in {module} : {term} .\nred in QID : {mark} .\n"));
        let mut result = None;
        let mut complaint: Option<String> = None;
        self.talk.hear(question, |line| {
            if let Some((sort, term)) = line.strip_prefix("result ").and_then(|rest| rest.split_once(": ")) {
                if term == mark {
                    return Some(());
                }
                result = Some((sort.to_owned(), term.to_owned()));
            } else if (line.starts_with("Warning:") || line.starts_with("Error:"))
                && complaint.is_none()
                && !harmless(line)
            {
                complaint = Some(line.to_owned());
            }
            None
        })?;
        Ok(Reduced { result, complaint })
    }

    /// The normal form of a term that the module must know how to rewrite.
    fn ask(&mut self, term: &str) -> Result<String, LogicError> {
        let Reduced { result, complaint } = self.reduce(ASKED, term, term)?;
        let Some((sort, result)) = result.filter(|_| complaint.is_none()) else {
            let complaint = complaint.map(|line| own_lines(&line, self.lines));
            return Err(self.talk.nonsense(term, complaint.as_deref().unwrap_or("nothing")));
        };
        // A term without a sort is one that the module's operators do not apply to.
        let stuck = sort.starts_with('[') || ["init(", "step("].iter().any(|op| result.starts_with(op));
        if stuck {
            return Err(self.talk.nonsense(term, &format!("{result} (no equation applies)")));
        }
        Ok(result)
    }

    fn ask_verdict(&mut self, term: &str) -> Result<Answer, LogicError> {
        let word = self.ask(term)?;
        Answer::from_word(&word).ok_or_else(|| self.talk.nonsense(term, &word))
    }
}

/// A complaint with the number of the line in the text that was sent after so many others; none for what is not a file.
fn own_lines(complaint: &str, before: usize) -> String {
    let Some((_, rest)) = complaint.split_once("<standard input>, line ") else {
        return complaint.to_owned();
    };
    let digits = rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len());
    let text = rest[digits..].trim_start_matches([':', ' ']);
    match rest[..digits].parse::<usize>().ok().and_then(|line| line.checked_sub(before)) {
        Some(line @ 1..) => format!("line {line}: {text}"),
        _ => text.to_owned(),
    }
}

/// Why a text cannot stand between the parentheses of a question: Maude would read on behind it, or read something
/// other than a formula over the atoms.
fn unaskable(formula: &str) -> Option<String> {
    let mut open = 0_usize;
    let mut chars = formula.char_indices().peekable();
    while let Some((at, c)) = chars.next() {
        let (before, after) = (&formula[..at], &formula[at + c.len_utf8()..]);
        match c {
            '(' => open += 1,
            ')' if open == 0 => return Some("it closes a parenthesis that is not open".to_owned()),
            ')' => open -= 1,
            // The next character is part of a name.
            '`' => drop(chars.next()),
            '"' => loop {
                match chars.next() {
                    None => return Some("a string in it does not end".to_owned()),
                    Some((_, '\\')) => drop(chars.next()),
                    Some((_, '"')) => break,
                    Some(_) => {}
                }
            },
            '*' if after.starts_with("**") => return Some("`***` begins a comment".to_owned()),
            '-' if after.starts_with("--") => return Some("`---` begins a comment".to_owned()),
            ':' if before.ends_with(|c: char| !c.is_whitespace() && !"()[]{},".contains(c))
                && after.starts_with(|c: char| c.is_alphanumeric() || c == '[') =>
            {
                return Some("a name with a colon is a variable to Maude".to_owned());
            }
            c if c.is_control() && !c.is_whitespace() => {
                return Some(format!("it contains the control character {c:?}"));
            }
            _ => {}
        }
    }
    (open > 0).then(|| "a parenthesis in it is not closed".to_owned())
}

fn letter(atoms: &[&str]) -> String {
    if atoms.is_empty() { "none".to_owned() } else { format!("({})", atoms.join(" ")) }
}

impl Logic for Maude {
    fn init(&mut self) -> Result<String, LogicError> {
        let term = format!("init({})", self.formula);
        self.ask(&term)
    }

    fn step(&mut self, state: &str, atoms: &[&str]) -> Result<String, LogicError> {
        self.ask(&format!("step(({state}), {})", letter(atoms)))
    }

    fn verdict(&mut self, state: &str) -> Result<Answer, LogicError> {
        self.ask_verdict(&format!("verdict({state})"))
    }

    fn at_end(&mut self, state: &str, atoms: &[&str]) -> Result<Answer, LogicError> {
        self.ask_verdict(&format!("atEnd(({state}), {})", letter(atoms)))
    }
}
