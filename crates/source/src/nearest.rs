//! Finds the names that a misspelled one perhaps meant.

/// How many names are offered.
const MOST: usize = 5;

/// The names nearest to `wanted`, best first, at most five: those that end in it, then by edit distance.
pub fn nearest<'a>(wanted: &str, names: impl Iterator<Item = &'a str>) -> Vec<String> {
    let mut ranked: Vec<(usize, &str)> = names.filter_map(|name| Some((distance(wanted, name)?, name))).collect();
    ranked.sort_unstable();
    ranked.dedup();
    ranked.into_iter().take(MOST).map(|(_, name)| name.to_owned()).collect()
}

/// How far a name is from the wanted one; `None` if they are too far apart to be mistaken.
fn distance(wanted: &str, name: &str) -> Option<usize> {
    let last = |text: &str| text.rsplit([':', '.']).next().unwrap_or(text).to_lowercase();
    let (own, other) = (last(wanted), last(name));
    if own == other {
        return Some(0);
    }
    let most = (own.chars().count().max(3) / 3).max(1);
    let inner = edits(&own, &other);
    let whole = edits(&wanted.to_lowercase(), &name.to_lowercase());
    Some(inner.min(whole)).filter(|n| *n <= most.max(wanted.chars().count() / 4))
}

/// The number of letters to insert, delete, replace or swap (Damerau, Levenshtein) to make one text the other.
fn edits(a: &str, b: &str) -> usize {
    const LONGEST: usize = 200;
    let a: Vec<char> = a.chars().take(LONGEST).collect();
    let b: Vec<char> = b.chars().take(LONGEST).collect();
    if a.len().abs_diff(b.len()) > 64 {
        return usize::MAX;
    }
    let mut before: Vec<usize> = Vec::new();
    let mut above: Vec<usize> = (0..=b.len()).collect();
    for (i, x) in a.iter().enumerate() {
        let mut row = vec![i + 1];
        for (j, y) in b.iter().enumerate() {
            let mut best = (above[j] + usize::from(x != y)).min(above[j + 1] + 1).min(row[j] + 1);
            if i > 0 && j > 0 && a[i - 1] == *y && b[j - 1] == *x {
                best = best.min(before[j - 1] + 1);
            }
            row.push(best);
        }
        before = std::mem::replace(&mut above, row);
    }
    above[b.len()]
}

#[cfg(test)]
mod tests {
    use super::{edits, nearest};

    #[test]
    fn edits_are_counted() {
        for (a, b, n) in [("", "", 0), ("abc", "", 3), ("landing", "landign", 1), ("kitten", "sitting", 3)] {
            assert_eq!(edits(a, b), n, "{a} {b}");
            assert_eq!(edits(b, a), n, "{b} {a}");
        }
    }

    #[test]
    fn names_in_a_scope_come_first_and_strange_ones_not_at_all() {
        let names = ["Bank::transfer", "transfers", "main", "bank.c:transfer", "tranfser"];
        let found = nearest("transfer", names.into_iter());
        assert_eq!(found, ["Bank::transfer", "bank.c:transfer", "tranfser", "transfers"]);
    }
}
