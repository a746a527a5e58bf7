//! Reads the lines of a table: comments left out, continued lines joined.

/// The rows of a table. A line that begins with four spaces continues the one before it; a `\` at the end of a line
/// continues a word. Every table is read once, so the joined text is never freed.
pub(super) fn rows(table: &str) -> impl Iterator<Item = &'static str> {
    let joined: &'static str = table.replace("\\\n    ", "").replace("\n    ", " ").leak();
    joined.lines().filter(|line| !line.is_empty() && !line.starts_with('#'))
}

#[test]
fn continued_lines_are_joined() {
    let joined: Vec<&str> = rows("# A comment\n\na b\n    c|\\\n    d\ne\n").collect();
    assert_eq!(joined, ["a b c|d", "e"]);
}
