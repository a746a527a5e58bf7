//! Who a finding is across runs and refactorings: a hash without line numbers, addresses or thread numbers.

use crate::site::{is_of_system, split_site};
use crate::{Kind, Side};
use sha2::{Digest, Sha256};

/// The identity of a finding: the first 16 hex digits of the SHA-256 of its kind, of its sides in no particular order,
/// and of the object's name.
///
/// A side is its first project symbol, or the [`site_identity`] where there are no symbols. Every part is preceded by
/// its length, so that no two different inputs are hashed alike.
pub fn fingerprint(kind: Kind, sides: &[&str], object: &str) -> String {
    let mut sides = sides.to_vec();
    sides.sort_unstable();
    let mut hash = Sha256::new();
    let mut part = |text: &str| {
        hash.update((text.len() as u64).to_le_bytes());
        hash.update(text.as_bytes());
    };
    part(kind.text());
    for side in sides {
        part(side);
    }
    part(object);
    hash.finalize().iter().take(8).map(|byte| format!("{byte:02x}")).collect()
}

/// What of a site may go into a fingerprint where there is no symbol.
///
/// `Main.java:12` and `a.c:12:5` lose line and column, `lib.so+0x1f` its offset. A bare address says nothing that
/// holds in the next run and becomes empty. A bare number stays: plain STD traces know their places only so, and
/// without it every two findings on one object would be the same.
pub fn site_identity(site: &str) -> &str {
    let is_number = |text: &str| !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit());
    let is_address = |text: &str| {
        text.strip_prefix("0x").is_some_and(|hex| !hex.is_empty() && hex.bytes().all(|b| b.is_ascii_hexdigit()))
    };
    let mut rest = site.trim();
    if is_address(rest) {
        return "";
    }
    if let Some((module, offset)) = rest.rsplit_once('+')
        && is_address(offset)
    {
        rest = module;
    }
    // Line and column, at most.
    for _ in 0..2 {
        match rest.rsplit_once(':') {
            Some((file, number)) if is_number(number) && !file.is_empty() && !file.ends_with(':') => rest = file,
            _ => break,
        }
    }
    rest
}

/// What of a side goes into a fingerprint: the [`code_identity`] of its site and stack.
pub fn side_identity(side: &Side) -> String {
    code_identity(&side.site, &side.stack)
}

/// The first project symbol of a stack, or of the site where there is none: its function, or the [`site_identity`]
/// where no function is known.
pub fn code_identity(site: &str, stack: &[String]) -> String {
    let project = stack.iter().find(|frame| !is_of_system(frame));
    let (function, place) = split_site(project.map_or(site, String::as_str));
    function.unwrap_or_else(|| site_identity(place)).to_owned()
}

/// What of an object's name goes into a fingerprint: `Value.x@3`, `Value@3`, `int[]@5[2]`, `text[8..15]` and `heap#7`
/// without the numbers, which differ in another run.
pub fn object_identity(name: &str) -> String {
    let digits = |text: &str| text.len() - text.trim_start_matches(|c: char| c.is_ascii_digit()).len();
    // Behind the last of several elements.
    let several = |tail: &str| -> usize {
        let last = tail.strip_prefix("..").map_or(0, digits);
        if last > 0 { last + 2 } else { 0 }
    };
    let mut out = String::new();
    let mut rest = name;
    while let Some(at) = rest.find(['@', '[', '#']) {
        out.push_str(&rest[..at]);
        let (open, behind) = rest[at..].split_at(1);
        let number = digits(behind);
        let (_, tail) = behind.split_at(number);
        rest = match open {
            "@" | "#" if number > 0 => tail,
            "[" if number > 0 && tail[several(tail)..].starts_with(']') => &tail[several(tail) + 1..],
            _ => {
                out.push_str(open);
                behind
            }
        };
    }
    out + rest
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Baselines in users' repositories hold these: a changed value here breaks them.
    #[test]
    fn pinned_values() {
        assert_eq!(fingerprint(Kind::Race, &["Main.run", "Main.main"], "x"), "ef6e2234b65d4569");
        assert_eq!(fingerprint(Kind::Deadlock, &["a", "b", "c"], "l1 l2 l3"), "5d7c533f6b8c2df4");
        assert_eq!(fingerprint(Kind::Property, &[], "landing"), "1251a322531d1e89");
    }

    #[test]
    fn sides_have_no_order_and_parts_do_not_run_together() {
        let print = |sides: &[&str], object| fingerprint(Kind::Race, sides, object);
        assert_eq!(print(&["a", "b"], "x"), print(&["b", "a"], "x"));
        let all = [
            print(&["a", "b"], "x"),
            print(&["a", "a"], "x"),
            print(&["a"], "x"),
            print(&["ab", ""], "x"),
            print(&["a"], "bx"),
            print(&["a", "b"], "y"),
            print(&[], "abx"),
            fingerprint(Kind::Atomicity, &["a", "b"], "x"),
        ];
        for (i, one) in all.iter().enumerate() {
            assert_eq!(one.len(), 16);
            assert!(all[i + 1..].iter().all(|other| other != one), "{i}");
        }
    }

    #[test]
    fn sites_lose_what_changes_from_build_to_build() {
        for (site, identity) in [
            ("Main.java:12", "Main.java"),
            ("a.c:12:5", "a.c"),
            ("C:\\a.c:12", "C:\\a.c"),
            ("17", "17"),
            (":17", ":17"),
            ("", ""),
            ("Main.run", "Main.run"),
            ("std::mem::swap", "std::mem::swap"),
            ("lib.so+0x1f", "lib.so"),
            ("0x7ffe01", ""),
            ("0xyz", "0xyz"),
            ("a:1:2:3", "a:1"),
        ] {
            assert_eq!(site_identity(site), identity, "{site}");
        }
    }

    #[test]
    fn objects_lose_their_numbers() {
        for (name, identity) in [
            ("x", "x"),
            ("Value.x@3", "Value.x"),
            ("Value@12.x", "Value.x"),
            ("int[]@5[2]", "int[]"),
            ("text[8..15]", "text"),
            ("text[8..15].part[2]", "text.part"),
            ("text[8..]", "text[8..]"),
            ("text[8..x]", "text[8..x]"),
            ("a[i]", "a[i]"),
            ("V17", "V17"),
            ("heap#12+8", "heap+8"),
            ("C#", "C#"),
            ("me@home", "me@home"),
            ("@", "@"),
        ] {
            assert_eq!(object_identity(name), identity, "{name}");
        }
    }

    #[test]
    fn a_side_is_its_first_project_symbol() {
        let side = |site: &str, stack: &[&str]| {
            let stack = stack.iter().map(|&frame| frame.to_owned()).collect();
            side_identity(&Side { site: site.to_owned(), stack, ..Side::default() })
        };
        assert_eq!(side("Main.java:12", &[]), "Main.java");
        assert_eq!(side("a.c:1", &["java.util.HashMap.put", "Main.run", "Main.main"]), "Main.run");
        assert_eq!(side("a.c:1", &["std::thread::spawn"]), "a.c");
        assert_eq!(side("deposit bank.c:17", &[]), "deposit");
        let stack = ["!memcpy libc.so.6+0x1f", "copy bank.c:3", "main bank.c:9"];
        assert_eq!(side(stack[0], &stack), "copy");
        assert_eq!(side(stack[0], &stack[..1]), "memcpy");
    }
}
