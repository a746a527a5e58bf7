//! What to say of words that are no operation, and how input is shown in messages.

use event::{Op, Order};

/// The memory order with this spelling.
pub(super) fn find_order(word: &str) -> Option<Order> {
    Order::ALL.into_iter().find(|order| order.text() == word)
}

/// What other formats and people call the operations.
const ALIASES: &[(&str, Op)] = &[
    ("read", Op::Read),
    ("write", Op::Write),
    ("acquire", Op::Acquire),
    ("lock", Op::Acquire),
    ("release", Op::Release),
    ("unlock", Op::Release),
    ("trylock", Op::TryAcquire),
    ("request", Op::Request),
    ("start", Op::Fork),
    ("signal", Op::Notify),
    ("broadcast", Op::NotifyAll),
    ("load", Op::AtomicLoad),
    ("store", Op::AtomicStore),
    ("rmw", Op::AtomicRmw),
    ("cas", Op::AtomicRmw),
    ("event", Op::Internal),
    ("enter", Op::Begin),
    ("exit", Op::End),
    ("malloc", Op::Alloc),
];

/// Says that there is no such operation, and which one may be meant.
pub(super) fn unknown(word: &str) -> String {
    let lower = word.to_ascii_lowercase();
    let alias = ALIASES.iter().find(|(name, _)| *name == lower).map(|&(_, op)| op);
    let near = || {
        let scored = Op::ALL.iter().map(|&op| (distance(&lower, op.text()), op));
        scored.min_by_key(|&(score, _)| score).filter(|&(score, op)| score <= 2 && score < op.text().len())
    };
    match alias.or_else(|| near().map(|(_, op)| op)) {
        Some(op) => format!("unknown operation {}; did you mean `{}`?", shown(word), op.text()),
        None => {
            let all: Vec<&str> = Op::ALL.iter().map(|op| op.text()).collect();
            format!("unknown operation {}; known are {}", shown(word), all.join(", "))
        }
    }
}

/// How many characters have to be changed, added or taken away to make one word of the other.
fn distance(a: &str, b: &str) -> usize {
    // Words that much longer than any operation are near to none.
    if a.len() > 16 {
        return usize::MAX;
    }
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, x) in a.bytes().enumerate() {
        let mut diagonal = row[0];
        row[0] = i + 1;
        for (j, y) in b.bytes().enumerate() {
            let changed = diagonal + usize::from(x != y);
            diagonal = row[j + 1];
            row[j + 1] = changed.min(row[j] + 1).min(diagonal + 1);
        }
    }
    row[b.len()]
}

/// Input between back quotes, shortened and without control characters.
pub(super) fn shown(text: &str) -> String {
    const LONGEST: usize = 40;
    let mut out = String::from("`");
    for (i, c) in text.chars().enumerate() {
        if i == LONGEST {
            out.push('…');
            break;
        }
        if c.is_control() {
            out.extend(c.escape_default());
        } else {
            out.push(c);
        }
    }
    out.push('`');
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_memory_order_is_found_by_its_spelling() {
        for order in Order::ALL {
            assert_eq!(find_order(order.text()), Some(order));
        }
    }

    #[test]
    fn suggestions() {
        for (word, near) in
            [("lock", "`acq`"), ("Read", "`r`"), ("frok", "`fork`"), ("notifyAll", "`notifyall`"), ("acqq", "`acq`")]
        {
            assert!(unknown(word).ends_with(&format!("did you mean {near}?")), "{}", unknown(word));
        }
        assert!(unknown("zzzzzzz").contains("known are r, w,"));
        assert_eq!(shown("a\tb"), "`a\\tb`");
        assert_eq!(distance("kitten", "sitting"), 3);
    }
}
