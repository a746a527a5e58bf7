//! What a line of C or C++ says of memory that it allocates: who receives it, and which type it names.

/// Functions that give memory.
const GIVES: [&str; 5] = ["malloc", "calloc", "realloc", "reallocarray", "aligned_alloc"];

/// Lines that a statement may take before the one that calls, and after it.
const BEFORE: usize = 3;
const AFTER: usize = 5;

/// An allocation.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub(crate) struct Allocation {
    /// What receives the memory, as it is written: `pool->queue`. Empty if that is no plain way to a variable.
    pub(crate) receiver: String,
    /// The type that `sizeof`, `new` or `make_unique` names, as it is written: `struct queue`. Empty if none does.
    pub(crate) named: String,
    /// Whether the named type is that of the memory for sure: `new` makes an object of no other.
    pub(crate) is_made: bool,
}

/// The one allocation of the statement on a line (counted from 1) of a source text; `None` if there is no such, or
/// there are several.
pub(crate) fn allocation(text: &str, line: usize) -> Option<Allocation> {
    let statement = statement(text, line)?;
    let words = words(&statement);
    let mut places = (0..words.len()).filter(|&at| gives(&words, at));
    let at = places.next()?;
    if places.next().is_some() {
        return None;
    }
    let is_made = words[at] == "new" || words[at] == "make_unique";
    let named = match words[at] {
        "new" => type_name(&words[at + 1..], &["(", "{", ";"]),
        "make_unique" => type_name(words.get(at + 2..)?, &[">"]),
        _ => sizeof(&words[at + 1..]),
    };
    Some(Allocation { receiver: receiver(&words[..at]).unwrap_or_default(), named: named.unwrap_or_default(), is_made })
}

/// Whether a word gives memory to its left.
fn gives(words: &[&str], at: usize) -> bool {
    let next = words.get(at + 1).copied().unwrap_or_default();
    match words[at] {
        // `new (place) T` takes none, and `delete` has no `new`.
        "new" => next != "(",
        "make_unique" => next == "<",
        word => GIVES.contains(&word) && next == "(",
    }
}

/// The statement around a line, without comments and texts.
fn statement(text: &str, line: usize) -> Option<String> {
    let lines: Vec<&str> = text.lines().collect();
    let at = line.checked_sub(1).filter(|&at| at < lines.len())?;
    let mut first = at;
    while first > 0 && at - first < BEFORE && !ends_statement(lines[first - 1]) {
        first -= 1;
    }
    let mut out = String::new();
    for (number, line) in lines.iter().enumerate().skip(first).take(at - first + AFTER) {
        out += &without_comments(line);
        out.push(' ');
        if number >= at && out.contains(';') {
            break;
        }
    }
    Some(out)
}

fn ends_statement(line: &str) -> bool {
    let line = without_comments(line);
    let line = line.trim();
    line.is_empty() || line.starts_with('#') || line.ends_with([';', '{', '}', ':'])
}

/// A line without `//` comments and without what is within quotes. Comments over several lines are not known here;
/// what they hold makes no sense as a way to a variable, or its type has another size.
fn without_comments(line: &str) -> String {
    let line = line.split("//").next().unwrap_or_default();
    let mut out = String::new();
    let mut quoted: Option<char> = None;
    let mut letters = line.chars();
    while let Some(letter) = letters.next() {
        match quoted {
            Some(_) if letter == '\\' => drop(letters.next()),
            Some(quote) if letter == quote => quoted = None,
            Some(_) => {}
            None if matches!(letter, '"' | '\'') => quoted = Some(letter),
            None => out.push(letter),
        }
    }
    out
}

/// Identifiers, `->`, `::`, and single signs.
fn words(text: &str) -> Vec<&str> {
    let mut words = Vec::new();
    let mut rest = text.trim_start();
    while let Some(first) = rest.chars().next() {
        let is_part = |c: char| c.is_alphanumeric() || c == '_';
        let length = match first {
            first if is_part(first) => rest.find(|c| !is_part(c)).unwrap_or(rest.len()),
            _ if rest.starts_with("->") || rest.starts_with("::") || rest.starts_with("==") => 2,
            first => first.len_utf8(),
        };
        let (word, after) = rest.split_at(length);
        words.push(word);
        rest = after.trim_start();
    }
    words
}

/// What is left of the `=` before an allocation, with nothing between but a cast or the scope of the function.
fn receiver(before: &[&str]) -> Option<String> {
    let mut rest = before;
    while let [outer @ .., "std" | "::"] = rest {
        rest = outer;
    }
    if let [outer @ .., ")"] = rest {
        let open = outer.iter().rposition(|&word| word == "(")?;
        rest = &outer[..open];
    }
    let (&equals, mut rest) = rest.split_last()?;
    if equals != "=" {
        return None;
    }
    let mut way: Vec<&str> = Vec::new();
    loop {
        let (&name, outer) = rest.split_last().filter(|(name, _)| is_name(name))?;
        way.push(name);
        match outer.split_last() {
            Some((&link @ ("->" | "."), outer)) => {
                way.push(link);
                rest = outer;
            }
            // An element, or what a function returns, has no name here.
            Some((&("]" | ")"), _)) if way.len() > 1 => return None,
            _ => break,
        }
    }
    way.reverse();
    Some(way.concat())
}

fn is_name(word: &str) -> bool {
    word.starts_with(|c: char| c.is_alphabetic() || c == '_')
}

/// The type in the only `sizeof` of the arguments.
fn sizeof(words: &[&str]) -> Option<String> {
    let mut places = words.iter().enumerate().filter(|(_, word)| **word == "sizeof");
    let at = places.next()?.0;
    if places.next().is_some() || words.get(at + 1) != Some(&"(") {
        return None;
    }
    type_name(&words[at + 2..], &[")"])
}

/// The type that these words begin with, up to one of those that end it.
fn type_name(words: &[&str], ends: &[&str]) -> Option<String> {
    let length = words.iter().position(|word| ends.contains(word)).filter(|&length| length > 0)?;
    let (kind, name) = match &words[..length] {
        [kind @ ("struct" | "union" | "class"), name @ ..] => (*kind, name),
        name => ("", name),
    };
    // `ns::T` is fine, `T *` and `x->y` are not.
    if name.is_empty() || !name.iter().all(|word| is_name(word) || *word == "::") {
        return None;
    }
    let plain = name.concat();
    Some(if kind.is_empty() || kind == "class" { plain } else { format!("{kind} {plain}") })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(text: &str, line: usize) -> Option<(String, String, bool)> {
        allocation(text, line).map(|a| (a.receiver, a.named, a.is_made))
    }

    #[test]
    fn statements_say_who_receives_what() {
        for (text, receiver, named, is_made) in [
            ("p = malloc(sizeof *p);", "p", "", false),
            ("struct pool *pool = malloc(sizeof(struct pool));", "pool", "struct pool", false),
            ("pool->queue = (struct queue *)calloc(1, sizeof(struct queue));", "pool->queue", "struct queue", false),
            ("if ((a.b->c = malloc(n)) == NULL) {", "a.b->c", "", false),
            ("queue_t *q = std::malloc(sizeof(queue_t)); // = malloc(", "q", "queue_t", false),
            ("auto q = new ns::Queue(3);", "q", "ns::Queue", true),
            ("return new Queue{};", "", "Queue", true),
            ("auto q = std::make_unique<Queue>(\"new X\");", "q", "Queue", true),
            ("rows[i] = malloc(sizeof(struct row));", "", "struct row", false),
            ("rows[i].next = malloc(sizeof(struct row));", "", "struct row", false),
            ("put(malloc(sizeof(struct row)));", "", "struct row", false),
            ("int *numbers = new int[7];", "numbers", "", true),
            ("p = f(1) + malloc(8);", "", "", false),
        ] {
            assert_eq!(of(text, 1), Some((receiver.to_owned(), named.to_owned(), is_made)), "{text}");
        }
    }

    #[test]
    fn statements_may_take_several_lines() {
        let text = "void f(void) {\n    pool->queue =\n        calloc(1,\n            sizeof(struct queue));\n}\n";
        for line in [2, 3] {
            assert_eq!(of(text, line), Some(("pool->queue".to_owned(), "struct queue".to_owned(), false)));
        }
    }

    #[test]
    fn what_is_not_sure_is_nothing() {
        for text in ["a = malloc(1), b = malloc(2);", "x = get();", "", "new (place) T();", "s = \"p = malloc(1)\";"] {
            assert_eq!(of(text, 1), None, "{text}");
        }
        assert_eq!(of("p = malloc(1);", 0), None);
        assert_eq!(of("p = malloc(1);", 2), None);
    }
}
