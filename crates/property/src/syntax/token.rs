//! The tokens of the language.

use super::Span;

/// A token and where it stands.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct Token {
    pub(crate) tok: Tok,
    pub(crate) span: Span,
}

/// What a token is. The text of a word is the source under its span.
#[derive(Clone, PartialEq, Debug)]
pub(crate) enum Tok {
    Word,
    /// A name in backquotes, for names of traces that are not words.
    Quoted(String),
    /// At most 2^63: that one only under a minus.
    Int(u64),
    Real(f64),
    Str(String),
    LParen,
    RParen,
    LBrace,
    RBrace,
    LBracket,
    RBracket,
    Comma,
    Semi,
    Colon,
    ColonColon,
    Dot,
    Hash,
    At,
    Eq,
    EqEq,
    Ne,
    Le,
    Ge,
    Lt,
    Gt,
    Plus,
    Minus,
    Star,
    Slash,
    Percent,
    Bang,
    AndAnd,
    OrOr,
    Amp,
    Pipe,
    Tilde,
    Question,
    Arrow,
    IffArrow,
    FatArrow,
    /// `⊙` (prev) and `○` (next), `♦` and `<*>` (once), `⊡` and `[*]` (hist), `[]` and `□`, `<>` and `◇`, `↑`, `↓`.
    Symbol(Symbol),
    /// Something the lexer has complained of.
    Bad,
    Eof,
}

/// Operators spelled with a sign.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Symbol {
    Prev,
    Once,
    Hist,
    Always,
    Eventually,
    Next,
    Start,
    End,
}

/// Words that begin a declaration. They cannot be names, so that the parser finds its way again after a mistake.
pub(crate) const DECLARATION_WORDS: &[&str] = &[
    "import", "spec", "target", "shared", "local", "lock", "region", "event", "let", "property", "check", "explore",
    "on", "suppress",
];

/// Words of formulas that cannot be names.
pub(crate) const FORMULA_WORDS: &[&str] = &[
    "true",
    "false",
    "unknown",
    "exists",
    "forall",
    "prev",
    "yesterday",
    "wyesterday",
    "once",
    "hist",
    "always",
    "eventually",
    "next",
    "wnext",
    "since",
    "wsince",
    "until",
    "wuntil",
    "releases",
];

/// One-letter aliases of prefix operators: they are operators where no such name is declared in the file.
pub(crate) const PREFIX_ALIASES: &[&str] = &["Y", "Z", "G", "F", "X", "o"];

/// Whether a word cannot be a name.
pub(crate) fn is_reserved(word: &str) -> bool {
    DECLARATION_WORDS.contains(&word) || FORMULA_WORDS.contains(&word)
}
