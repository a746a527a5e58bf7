//! Escapes in names, sites and strings, in both directions.
//!
//! In names and sites an escape is read only where the writer could have written it, so that a name like `C:\x` or
//! `\x41` stands for itself. The writer asks the reader's own rule whether a backslash would be taken for an escape.

/// The name that is empty: names are never empty in the text.
pub(super) const EMPTY: &str = "\\e";

/// The character that one or more `\xNN` at the beginning of the text stand for, and the length of these.
fn hex_char(text: &str) -> Option<(char, usize)> {
    let bytes = text.as_bytes();
    let byte = |k: usize| match bytes.get(4 * k..4 * k + 4)? {
        &[b'\\', b'x', high, low] => Some((hex_digit(high)? << 4) | hex_digit(low)?),
        _ => None,
    };
    let first = byte(0)?;
    let length = match first {
        0x00..0x80 => return Some((char::from(first), 4)),
        0xc2..=0xdf => 2,
        0xe0..=0xef => 3,
        0xf0..=0xf4 => 4,
        _ => return None,
    };
    let mut utf8 = [first, 0, 0, 0];
    for (k, slot) in utf8.iter_mut().enumerate().take(length).skip(1) {
        *slot = byte(k)?;
    }
    let c = str::from_utf8(&utf8[..length]).ok()?.chars().next()?;
    Some((c, 4 * length))
}

fn hex_digit(digit: u8) -> Option<u8> {
    char::from(digit).to_digit(16).map(|d| d as u8)
}

fn push_hex(out: &mut Vec<u8>, c: char) {
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    for &byte in c.encode_utf8(&mut [0; 4]).as_bytes() {
        out.extend_from_slice(&[b'\\', b'x', DIGITS[usize::from(byte >> 4)], DIGITS[usize::from(byte & 15)]]);
    }
}

fn push_char(out: &mut Vec<u8>, c: char) {
    out.extend_from_slice(c.encode_utf8(&mut [0; 4]).as_bytes());
}

/// Where a name stands: some characters have a meaning only there.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum At {
    /// The beginning of a line, where `#` opens a comment.
    LineStart,
    /// Alone between parentheses.
    Alone,
    /// In a list, where `,` separates.
    List,
    /// Before the `=` of an initial value.
    Init,
}

impl At {
    /// Characters that no name can contain as they are. U+FEFF is among them because a file may begin with it.
    fn must_escape(self, c: char, first: bool) -> bool {
        match c {
            '|' | ')' | '\u{feff}' => true,
            '#' => self == At::LineStart && first,
            ',' => self == At::List,
            '=' => self == At::Init,
            c => c.is_whitespace() || c.is_control(),
        }
    }
}

/// Characters that are read from an escape in a name, wherever it stands.
fn escapable_in_name(c: char) -> bool {
    matches!(c, '|' | ')' | ',' | '#' | '=' | '\\' | '\u{feff}') || c.is_whitespace() || c.is_control()
}

fn escapable_in_site(c: char) -> bool {
    c == '\\' || must_escape_in_site(c)
}

fn must_escape_in_site(c: char) -> bool {
    c == '|' || c.is_control()
}

/// Bytes that are written as they are wherever a name stands.
const PLAIN: [bool; 256] = {
    let mut plain = [false; 256];
    let mut b = 0x21;
    while b < 0x7f {
        plain[b] = !matches!(b as u8, b'|' | b')' | b'\\' | b'#' | b',' | b'=');
        b += 1;
    }
    plain
};

/// Writes a name.
pub(super) fn write_name(out: &mut Vec<u8>, name: &str, at: At) {
    if !name.is_empty() && name.bytes().all(|b| PLAIN[usize::from(b)]) {
        out.extend_from_slice(name.as_bytes());
        return;
    }
    if name.is_empty() {
        out.extend_from_slice(EMPTY.as_bytes());
        return;
    }
    if name == EMPTY {
        push_hex(out, '\\');
        push_char(out, 'e');
        return;
    }
    write_escaped(out, name, |i, c| at.must_escape(c, i == 0), escapable_in_name);
}

/// Writes a site, or other text that goes to the end of its line.
pub(super) fn write_site(out: &mut Vec<u8>, site: &str) {
    if site.bytes().all(|b| (0x20..0x7f).contains(&b) && b != b'|' && b != b'\\') {
        out.extend_from_slice(site.as_bytes());
    } else {
        write_escaped(out, site, |_, c| must_escape_in_site(c), escapable_in_site);
    }
}

fn write_escaped(out: &mut Vec<u8>, text: &str, must: impl Fn(usize, char) -> bool, escapable: fn(char) -> bool) {
    for (i, c) in text.char_indices() {
        let ambiguous = || c == '\\' && hex_char(&text[i..]).is_some_and(|(c, _)| escapable(c));
        if must(i, c) || ambiguous() {
            push_hex(out, c);
        } else {
            push_char(out, c);
        }
    }
}

/// Writes a string between double quotes.
pub(super) fn write_string(out: &mut Vec<u8>, text: &str) {
    out.push(b'"');
    for c in text.chars() {
        match c {
            '"' => out.extend_from_slice(b"\\\""),
            '\\' => out.extend_from_slice(b"\\\\"),
            '\n' => out.extend_from_slice(b"\\n"),
            '|' => push_hex(out, c),
            c if c.is_control() => push_hex(out, c),
            c => push_char(out, c),
        }
    }
    out.push(b'"');
}

/// Reads a name into `out`.
pub(super) fn read_name(out: &mut String, name: &str) {
    if name == EMPTY {
        out.clear();
    } else {
        read_escaped(out, name, escapable_in_name);
    }
}

/// Reads a site into `out`.
pub(super) fn read_site(out: &mut String, site: &str) {
    read_escaped(out, site, escapable_in_site);
}

fn read_escaped(out: &mut String, text: &str, escapable: fn(char) -> bool) {
    out.clear();
    let mut rest = text;
    while let Some(at) = rest.find('\\') {
        out.push_str(&rest[..at]);
        rest = &rest[at..];
        let (c, length) = hex_char(rest).filter(|&(c, _)| escapable(c)).unwrap_or(('\\', 1));
        out.push(c);
        rest = &rest[length..];
    }
    out.push_str(rest);
}

/// The length of the string, quotes included, that the text begins with.
pub(super) fn string_length(text: &str) -> Result<usize, String> {
    let mut at = 1;
    loop {
        match text.as_bytes().get(at) {
            None => return Err("a string without its closing `\"` (within a string, `|` is written `\\x7c`)".into()),
            Some(b'"') => return Ok(at + 1),
            Some(b'\\') => match string_escape(&text[at..]) {
                Some((_, length)) => at += length,
                None => {
                    return Err(
                        "an unknown escape in a string; known are `\\\"`, `\\\\`, `\\n` and `\\xNN` (UTF-8)".into()
                    );
                }
            },
            Some(_) => at += 1,
        }
    }
}

fn string_escape(text: &str) -> Option<(char, usize)> {
    match text.as_bytes().get(1)? {
        b'"' => Some(('"', 2)),
        b'\\' => Some(('\\', 2)),
        b'n' => Some(('\n', 2)),
        _ => hex_char(text),
    }
}

/// Reads a string without its quotes into `out`; its escapes have been checked by [`string_length`].
pub(super) fn read_string(out: &mut String, text: &str) {
    out.clear();
    let mut rest = text;
    while let Some(at) = rest.find('\\') {
        out.push_str(&rest[..at]);
        rest = &rest[at..];
        let (c, length) = string_escape(rest).unwrap_or(('\\', 1));
        out.push(c);
        rest = &rest[length..];
    }
    out.push_str(rest);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn name(name: &str, at: At) -> String {
        let mut out = Vec::new();
        write_name(&mut out, name, at);
        let text = String::from_utf8(out).unwrap();
        let mut back = String::new();
        read_name(&mut back, &text);
        assert_eq!(back, name, "through {text}");
        text
    }

    #[test]
    fn names() {
        for (plain, at, text) in [
            ("V16e92358.199", At::Alone, "V16e92358.199"),
            ("operator()(int, int)", At::Alone, r"operator(\x29(int,\x20int\x29"),
            ("operator()(int, int)", At::List, r"operator(\x29(int\x2c\x20int\x29"),
            ("a|b", At::Alone, r"a\x7cb"),
            (r"C:\x", At::Alone, r"C:\x"),
            (r"\x41", At::Alone, r"\x41"),
            (r"\x7c", At::Alone, r"\x5cx7c"),
            (r"\x7C", At::Alone, r"\x5cx7C"),
            (r"\x5cx7c", At::Alone, r"\x5cx5cx7c"),
            (r"\xc2\xa0", At::Alone, r"\x5cxc2\xa0"),
            ("\\xc2\u{a0}", At::Alone, r"\xc2\xc2\xa0"),
            (r"\xc2\xa", At::Alone, r"\xc2\xa"),
            ("a\u{2028}b", At::Alone, r"a\xe2\x80\xa8b"),
            ("\u{85}", At::Alone, r"\xc2\x85"),
            ("\0", At::Alone, r"\x00"),
            ("", At::Alone, r"\e"),
            (r"\e", At::Alone, r"\x5ce"),
            (r"\e2", At::Alone, r"\e2"),
            ("##", At::LineStart, r"\x23#"),
            ("#", At::Alone, "#"),
            ("\u{feff}T", At::LineStart, r"\xef\xbb\xbfT"),
            ("a=b", At::Alone, "a=b"),
            ("a=b", At::Init, r"a\x3db"),
            ("größe→x", At::Alone, "größe→x"),
        ] {
            assert_eq!(name(plain, at), text);
        }
    }

    #[test]
    fn sites_and_strings() {
        for (plain, site, string) in [
            ("Main.java:12", "Main.java:12", r#""Main.java:12""#),
            ("a b,c)", "a b,c)", r#""a b,c)""#),
            ("a|b\nc\r\t", r"a\x7cb\x0ac\x0d\x09", r#""a\x7cb\nc\x0d\x09""#),
            (r"C:\new", r"C:\new", r#""C:\\new""#),
            (r"\x7c", r"\x5cx7c", r#""\\x7c""#),
            (r"\x20", r"\x20", r#""\\x20""#),
            ("\"é\u{9f}\"", "\"é\\xc2\\x9f\"", "\"\\\"é\\xc2\\x9f\\\"\""),
        ] {
            let (mut out, mut back) = (Vec::new(), String::new());
            write_site(&mut out, plain);
            assert_eq!(str::from_utf8(&out).unwrap(), site);
            read_site(&mut back, site);
            assert_eq!(back, plain);

            out.clear();
            write_string(&mut out, plain);
            assert_eq!(str::from_utf8(&out).unwrap(), string);
            assert_eq!(string_length(&format!("{string}@x")), Ok(string.len()));
            read_string(&mut back, &string[1..string.len() - 1]);
            assert_eq!(back, plain);
        }
        for bad in [r#""a"#, r#""a\""#, r#""\q""#, r#""\x""#, r#""\xff""#, r#""\xc2""#, r#""\xc2\x41""#, "\"\\"] {
            assert!(string_length(bad).is_err(), "{bad}");
        }
    }
}
