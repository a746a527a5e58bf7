//! Text to tokens. Every byte is covered; what makes no sense becomes one diagnostic and a [`Tok::Bad`].

use super::token::{Symbol, Tok, Token};
use super::{Diagnostic, Diagnostics, Span};

/// Signs, longer ones before their beginnings.
const SIGNS: &[(&str, Tok)] = &[
    ("<->", Tok::IffArrow),
    ("<*>", Tok::Symbol(Symbol::Once)),
    ("[*]", Tok::Symbol(Symbol::Hist)),
    ("[]", Tok::Symbol(Symbol::Always)),
    ("<>", Tok::Symbol(Symbol::Eventually)),
    ("->", Tok::Arrow),
    ("=>", Tok::FatArrow),
    ("==", Tok::EqEq),
    ("!=", Tok::Ne),
    ("<=", Tok::Le),
    (">=", Tok::Ge),
    ("&&", Tok::AndAnd),
    ("||", Tok::OrOr),
    ("::", Tok::ColonColon),
    ("(", Tok::LParen),
    (")", Tok::RParen),
    ("{", Tok::LBrace),
    ("}", Tok::RBrace),
    ("[", Tok::LBracket),
    ("]", Tok::RBracket),
    (",", Tok::Comma),
    (";", Tok::Semi),
    (":", Tok::Colon),
    (".", Tok::Dot),
    ("#", Tok::Hash),
    ("@", Tok::At),
    ("=", Tok::Eq),
    ("<", Tok::Lt),
    (">", Tok::Gt),
    ("+", Tok::Plus),
    ("-", Tok::Minus),
    ("*", Tok::Star),
    ("/", Tok::Slash),
    ("%", Tok::Percent),
    ("!", Tok::Bang),
    ("&", Tok::Amp),
    ("|", Tok::Pipe),
    ("~", Tok::Tilde),
    ("?", Tok::Question),
    ("∧", Tok::AndAnd),
    ("∨", Tok::OrOr),
    ("¬", Tok::Bang),
    ("→", Tok::Arrow),
    ("⇒", Tok::Arrow),
    ("↔", Tok::IffArrow),
    ("⇔", Tok::IffArrow),
    ("≤", Tok::Le),
    ("≥", Tok::Ge),
    ("≠", Tok::Ne),
    ("⊙", Tok::Symbol(Symbol::Prev)),
    ("♦", Tok::Symbol(Symbol::Once)),
    ("⊡", Tok::Symbol(Symbol::Hist)),
    ("□", Tok::Symbol(Symbol::Always)),
    ("◇", Tok::Symbol(Symbol::Eventually)),
    ("○", Tok::Symbol(Symbol::Next)),
    ("↑", Tok::Symbol(Symbol::Start)),
    ("↓", Tok::Symbol(Symbol::End)),
];

/// The tokens of a text, the last one [`Tok::Eof`].
pub(crate) fn lex(file: u32, text: &str, out: &mut Diagnostics) -> Vec<Token> {
    let mut lexer = Lexer { file, text, at: 0, out };
    let mut tokens = Vec::with_capacity(text.len() / 4);
    loop {
        lexer.skip_blank();
        let start = lexer.at;
        let tok = lexer.token();
        let span = lexer.span(start);
        let end = tok == Tok::Eof;
        tokens.push(Token { tok, span });
        if end {
            return tokens;
        }
    }
}

/// Whether a word can begin with this character.
pub(crate) fn begins_word(c: char) -> bool {
    c.is_alphabetic() || c == '_' || c == '$'
}

/// Whether a word can go on with this character.
pub(crate) fn continues_word(c: char) -> bool {
    c.is_alphanumeric() || c == '_' || c == '$'
}

struct Lexer<'a> {
    file: u32,
    text: &'a str,
    at: usize,
    out: &'a mut Diagnostics,
}

impl<'a> Lexer<'a> {
    fn span(&self, start: usize) -> Span {
        Span { file: self.file, start: start as u32, end: self.at as u32 }
    }

    fn rest(&self) -> &'a str {
        &self.text[self.at..]
    }

    fn peek(&self) -> Option<char> {
        self.rest().chars().next()
    }

    fn take_while(&mut self, accept: impl Fn(char) -> bool) -> &'a str {
        let rest = self.rest();
        let len = rest.find(|c| !accept(c)).unwrap_or(rest.len());
        self.at += len;
        &rest[..len]
    }

    fn skip_blank(&mut self) {
        loop {
            self.take_while(|c| c.is_whitespace() || c == '\u{feff}');
            if self.rest().starts_with("//") {
                self.take_while(|c| c != '\n');
            } else if self.rest().starts_with("/*") {
                let start = self.at;
                let rest = self.rest();
                let len = rest[2..].find("*/").map_or(rest.find('\n').unwrap_or(rest.len()), |i| i + 4);
                self.at += 2;
                self.out.push(
                    Diagnostic::error("syntax", "comments begin with `//`")
                        .at(self.span(start), "not the beginning of a comment")
                        .help("write `//` in front of each line of the comment"),
                );
                self.at = start + len;
            } else {
                return;
            }
        }
    }

    fn token(&mut self) -> Tok {
        let Some(c) = self.peek() else { return Tok::Eof };
        if begins_word(c) {
            self.take_while(continues_word);
            return Tok::Word;
        }
        if c.is_ascii_digit() {
            return self.number();
        }
        match c {
            '"' => return self.string(),
            '`' => return self.quoted(),
            _ => {}
        }
        let rest = self.rest();
        if let Some((sign, tok)) = SIGNS.iter().find(|(sign, _)| rest.starts_with(sign)) {
            self.at += sign.len();
            return tok.clone();
        }
        self.unknown()
    }

    /// A run of characters that begin no token: one complaint.
    fn unknown(&mut self) -> Tok {
        let start = self.at;
        let Some(first) = self.peek() else { return Tok::Eof };
        self.take_while(|c| {
            !(begins_word(c)
                || c.is_ascii_digit()
                || c.is_whitespace()
                || c == '"'
                || c == '`'
                || SIGNS.iter().any(|(sign, _)| sign.starts_with(c)))
        });
        // A text between typographic quotes is one mistake.
        if first == '“'
            && let Some(end) = self.rest().find(['”', '\n'])
            && self.rest()[end..].starts_with('”')
            && start + '“'.len_utf8() == self.at
        {
            self.at += end + '”'.len_utf8();
        }
        let help = match first {
            '“' | '”' | '„' | '‘' | '’' | '\'' => {
                Some("strings stand between straight double quotes: \"…\"".to_owned())
            }
            '–' | '—' | '−' => Some("write `-` for minus".to_owned()),
            '^' => Some("there is no power or exclusive or; `a <-> !b` says that exactly one holds".to_owned()),
            _ => None,
        };
        let shown = first.escape_debug();
        self.out.push(
            Diagnostic::error("syntax", format!("unknown character `{shown}`"))
                .at(self.span(start), "no token begins like this")
                .maybe_help(help),
        );
        Tok::Bad
    }

    fn number(&mut self) -> Tok {
        let start = self.at;
        let digit = |c: char| c.is_ascii_digit();
        self.take_while(digit);
        let mut real = false;
        let mut after = self.rest().chars();
        if after.next() == Some('.') && after.next().is_some_and(digit) {
            real = true;
            self.at += 1;
            self.take_while(digit);
        }
        let rest = self.rest();
        if rest.starts_with(['e', 'E']) {
            let sign = usize::from(rest[1..].starts_with(['+', '-']));
            if rest[1 + sign..].starts_with(digit) {
                real = true;
                self.at += 1 + sign;
                self.take_while(digit);
            }
        }
        if self.peek().is_some_and(continues_word) {
            self.take_while(continues_word);
            self.out.push(
                Diagnostic::error("syntax", "malformed number")
                    .at(self.span(start), "a number goes on with letters")
                    .help("numbers are decimal (`42`, `-1`, `2.5`, `1e9`), names begin with a letter"),
            );
            return Tok::Bad;
        }
        let text = &self.text[start..self.at];
        if real {
            match text.parse::<f64>() {
                Ok(value) if value.is_finite() => return Tok::Real(value),
                _ => self
                    .out
                    .push(Diagnostic::error("syntax", "number too large").at(self.span(start), "beyond 64-bit reals")),
            }
            return Tok::Bad;
        }
        match text.parse::<u64>() {
            Ok(value) if value <= 1 << 63 => Tok::Int(value),
            _ => {
                self.out.push(
                    Diagnostic::error("syntax", "number too large")
                        .at(self.span(start), "integers have 64 bits: at most 9223372036854775807")
                        .help(format!("write `{text}.0` for a real number")),
                );
                Tok::Bad
            }
        }
    }

    fn quoted(&mut self) -> Tok {
        let start = self.at;
        self.at += 1;
        let text = self.take_while(|c| c != '`' && c != '\n').to_owned();
        if self.rest().starts_with('`') && !text.is_empty() {
            self.at += 1;
            return Tok::Quoted(text);
        }
        self.out.push(
            Diagnostic::error("syntax", "a name in backquotes does not end")
                .at(self.span(start), "the closing backquote is missing on this line"),
        );
        Tok::Bad
    }

    fn string(&mut self) -> Tok {
        let start = self.at;
        self.at += 1;
        let mut text = String::new();
        let mut bad = false;
        loop {
            match self.peek() {
                None | Some('\n') => {
                    // What ends the line is more likely the end of the action or block than of the text.
                    let line = &self.text[start + 1..self.at];
                    let end = line.trim_end_matches(|c: char| c.is_whitespace() || matches!(c, ';' | '}' | ')'));
                    self.at = start + 1 + end.len();
                    self.out.push(
                        Diagnostic::error("syntax", "a string does not end")
                            .at(self.span(start), "the closing `\"` is missing on this line"),
                    );
                    return Tok::Bad;
                }
                Some('"') => {
                    self.at += 1;
                    return if bad { Tok::Bad } else { Tok::Str(text) };
                }
                Some('\\') => match self.escape() {
                    Some(c) => text.push(c),
                    None => bad = true,
                },
                Some(c) => {
                    text.push(c);
                    self.at += c.len_utf8();
                }
            }
        }
    }

    /// One escape. Complains and gives `None` if there is no such.
    fn escape(&mut self) -> Option<char> {
        let start = self.at;
        self.at += 1;
        let c = self.peek()?;
        if c == '\n' {
            return None;
        }
        self.at += c.len_utf8();
        let value = match c {
            '"' | '\\' => Some(c),
            'n' => Some('\n'),
            't' => Some('\t'),
            'r' => Some('\r'),
            'x' => {
                let digits = self.rest().get(..2).filter(|d| d.bytes().all(|b| b.is_ascii_hexdigit()));
                self.at += digits.map_or(0, str::len);
                digits.and_then(|d| u8::from_str_radix(d, 16).ok()).filter(u8::is_ascii).map(char::from)
            }
            'u' => {
                let rest = self.rest();
                let inner = rest.strip_prefix('{').and_then(|r| r.find('}').map(|i| &r[..i])).filter(|d| d.len() <= 6);
                self.at += inner.map_or(0, |d| d.len() + 2);
                inner.and_then(|d| u32::from_str_radix(d, 16).ok()).and_then(char::from_u32)
            }
            _ => None,
        };
        if value.is_none() {
            self.out.push(
                Diagnostic::error("syntax", "unknown escape in a string")
                    .at(self.span(start), "not an escape")
                    .help(r#"the escapes are `\"`, `\\`, `\n`, `\t`, `\r`, `\x41` (ASCII) and `\u{1f600}`"#),
            );
        }
        value
    }
}
