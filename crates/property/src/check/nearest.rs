//! The known name nearest to one that is not known.

/// The nearest of some names, if one is near enough to be a slip: the first of those at the least distance.
pub(crate) fn nearest<'a>(word: &str, names: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let limit = (word.chars().count() / 3).clamp(1, 4);
    let mut best: Option<(usize, &str)> = None;
    for name in names {
        let far = best.map_or(limit + 1, |(d, _)| d);
        if name == word || name.len().abs_diff(word.len()) > 4 * far {
            continue;
        }
        let d =
            if name.eq_ignore_ascii_case(word) || same_but_for_hyphens(name, word) { 0 } else { distance(word, name) };
        // A one-letter name is not a slip of another one-letter name unless only the case differs.
        if d < far && (d == 0 || name.chars().count() > d) {
            best = Some((d, name));
        }
    }
    best.map(|(_, name)| name)
}

fn same_but_for_hyphens(a: &str, b: &str) -> bool {
    a.replace(['-', '_'], "").eq_ignore_ascii_case(&b.replace(['-', '_'], ""))
}

/// Edits (insert, delete, replace, swap neighbours) that make one word of the other.
fn distance(a: &str, b: &str) -> usize {
    // Names come from traces and can be long: the distance of such is of no use.
    let a: Vec<char> = a.chars().take(64).collect();
    let b: Vec<char> = b.chars().take(64).collect();
    let mut before: Vec<usize> = Vec::new();
    let mut last: Vec<usize> = (0..=b.len()).collect();
    for i in 1..=a.len() {
        let mut row = vec![i];
        for j in 1..=b.len() {
            let replace = last[j - 1] + usize::from(a[i - 1] != b[j - 1]);
            let mut d = replace.min(last[j] + 1).min(row[j - 1] + 1);
            if i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] {
                d = d.min(before[j - 2] + 1);
            }
            row.push(d);
        }
        before = std::mem::replace(&mut last, row);
    }
    last[b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slips_are_found_and_strangers_are_not() {
        let names = ["landing", "approved", "radio", "x"];
        assert_eq!(nearest("landign", names), Some("landing"));
        assert_eq!(nearest("Radio", names), Some("radio"));
        assert_eq!(nearest("aproved", names), Some("approved"));
        assert_eq!(nearest("y", names), None);
        assert_eq!(nearest("X", names), Some("x"));
        assert_eq!(nearest("velocity", names), None);
        assert_eq!(nearest("weakhb", ["weak_hb"]), Some("weak_hb"));
    }

    #[test]
    fn distance_counts_edits() {
        for (a, b, d) in [("", "", 0), ("", "ab", 2), ("ab", "ba", 1), ("kitten", "sitting", 3), ("abc", "abc", 0)] {
            assert_eq!(distance(a, b), d, "{a} {b}");
            assert_eq!(distance(b, a), d, "{b} {a}");
        }
    }
}
