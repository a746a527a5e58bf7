//! Tokens to syntax trees, by recursive descent. After a mistake the parser goes on at the next declaration, so that
//! one run finds several mistakes, and one mistake is one complaint.

mod decl;
mod ere;
mod formula;
mod parts;
mod property;

use super::ast::{Expr, File, Item, Name, Spec, Text};
use super::lexer::{begins_word, continues_word, lex};
use super::token::{DECLARATION_WORDS, PREFIX_ALIASES, Tok, Token, is_reserved};
use super::{Diagnostic, Diagnostics, Sources, Span};
use std::collections::HashSet;

/// How deeply formulas and expressions may be nested.
pub const MAX_DEPTH: usize = 256;

const ERE_OPERATORS: &str = "in expressions, or is `|`, and is `&`, not is `~`; formulas stand in `{ … }`";

/// A mistake was found and complained of.
pub(crate) struct Failed;

type Parsed<T> = Result<T, Failed>;

/// Parses a whole file.
pub fn parse_file(sources: &Sources, file: u32, out: &mut Diagnostics) -> File {
    let text = sources.text(file);
    let tokens = lex(file, text, out);
    let declared = declared_aliases(text, &tokens);
    Parser::new(text, tokens, declared, false, out).file()
}

/// Parses a text that is one formula. Names may be paths or stand in backquotes; words for which `is_known` holds are
/// never aliases of operators.
pub fn parse_formula(
    sources: &Sources,
    file: u32,
    is_known: impl Fn(&str) -> bool,
    out: &mut Diagnostics,
) -> Option<Expr> {
    let text = sources.text(file);
    let before = out.len();
    let tokens = lex(file, text, out);
    let declared = PREFIX_ALIASES.iter().filter(|a| is_known(a)).map(|a| (*a).to_owned()).collect();
    let mut parser = Parser::new(text, tokens, declared, true, out);
    let formula = parser.formula().ok()?;
    if parser.tok() != &Tok::Eof {
        let _ = parser.expected::<()>("an operator or the end of the formula");
    }
    (out.len() == before).then_some(formula)
}

/// A text that is one constant.
pub fn parse_constant(text: &str) -> Option<super::ast::ConstKind> {
    let mut out = Diagnostics::default();
    let tokens = lex(0, text, &mut out);
    let mut parser = Parser::new(text, tokens, HashSet::new(), true, &mut out);
    let constant = parser.constant().ok()?;
    (parser.tok() == &Tok::Eof && out.is_empty()).then_some(constant.kind)
}

/// Whether a text can be a name in a file.
pub fn is_name(text: &str) -> bool {
    let mut chars = text.chars();
    chars.next().is_some_and(begins_word) && chars.all(continues_word) && !is_reserved(text)
}

/// The one-letter aliases that the file declares as names.
fn declared_aliases(text: &str, tokens: &[Token]) -> HashSet<String> {
    let word = |i: usize| tokens.get(i).filter(|t| t.tok == Tok::Word).map(|t| &text[t.span.range()]);
    let mut declared = HashSet::new();
    for i in 1..tokens.len() {
        let Some(name) = word(i).filter(|w| PREFIX_ALIASES.contains(w)) else { continue };
        let after_keyword = match word(i - 1) {
            Some("lock" | "region" | "event" | "let" | "exists" | "forall") => true,
            Some("bool" | "int" | "real" | "string" | "ref") => {
                i > 1 && matches!(word(i - 2), Some("shared" | "local"))
            }
            _ => false,
        };
        if after_keyword || tokens.get(i + 1).is_some_and(|t| t.tok == Tok::Colon) {
            declared.insert(name.to_owned());
        }
    }
    declared
}

pub(super) struct Parser<'a> {
    text: &'a str,
    tokens: Vec<Token>,
    at: usize,
    depth: usize,
    declared: HashSet<String>,
    /// One formula from the command line: names of the trace stand as they are.
    inline: bool,
    /// The name of the declaration being read, as soon as it is known.
    current: Option<Name>,
    out: &'a mut Diagnostics,
}

impl<'a> Parser<'a> {
    fn new(
        text: &'a str,
        tokens: Vec<Token>,
        declared: HashSet<String>,
        inline: bool,
        out: &'a mut Diagnostics,
    ) -> Parser<'a> {
        Parser { text, tokens, at: 0, depth: 0, declared, inline, current: None, out }
    }

    fn tok(&self) -> &Tok {
        &self.tokens[self.at].tok
    }

    /// The token `n` after the current one.
    fn ahead(&self, n: usize) -> &Token {
        &self.tokens[(self.at + n).min(self.tokens.len() - 1)]
    }

    fn span(&self) -> Span {
        self.tokens[self.at].span
    }

    /// Where the last token stood.
    fn last_span(&self) -> Span {
        self.tokens[self.at.saturating_sub(1)].span
    }

    fn bump(&mut self) -> Span {
        let span = self.span();
        if self.at + 1 < self.tokens.len() {
            self.at += 1;
        }
        span
    }

    fn eat(&mut self, tok: &Tok) -> bool {
        let found = self.tok() == tok;
        if found {
            self.bump();
        }
        found
    }

    fn text_of(&self, token: &Token) -> &'a str {
        &self.text[token.span.range()]
    }

    /// The current word, if it is one.
    fn word(&self) -> Option<&'a str> {
        let token = self.ahead(0);
        (token.tok == Tok::Word).then(|| self.text_of(token))
    }

    fn word_ahead(&self, n: usize) -> Option<&'a str> {
        let token = self.ahead(n);
        (token.tok == Tok::Word).then(|| self.text_of(token))
    }

    fn at_word(&self, word: &str) -> bool {
        self.word() == Some(word)
    }

    fn eat_word(&mut self, word: &str) -> bool {
        let found = self.at_word(word);
        if found {
            self.bump();
        }
        found
    }

    /// What the current token is, for messages.
    fn found(&self) -> String {
        match self.tok() {
            Tok::Eof => "the end of the file".to_owned(),
            Tok::Str(_) => "a string".to_owned(),
            _ => format!("`{}`", self.text_of(self.ahead(0)).escape_debug()),
        }
    }

    /// Complains of the current token, unless the lexer has done so.
    fn expected<T>(&mut self, what: &str) -> Parsed<T> {
        self.expected_with(what, None)
    }

    fn expected_with<T>(&mut self, what: &str, help: Option<String>) -> Parsed<T> {
        if self.tok() != &Tok::Bad {
            let found = self.found();
            let label =
                if self.tok() == &Tok::Eof { "the file ends here".to_owned() } else { format!("expected {what}") };
            let diagnostic = Diagnostic::error("syntax", format!("expected {what}, found {found}"))
                .at(self.span(), label)
                .maybe_help(help);
            self.out.push(diagnostic);
        }
        Err(Failed)
    }

    fn expect(&mut self, tok: &Tok, what: &str) -> Parsed<Span> {
        if self.tok() == tok { Ok(self.bump()) } else { self.expected(what) }
    }

    /// A `;`. A missing one is shown behind what it should end.
    fn semi(&mut self, after: &str) -> Parsed<()> {
        if self.eat(&Tok::Semi) {
            return Ok(());
        }
        if self.tok() != &Tok::Bad {
            let found = self.found();
            self.out.push(
                Diagnostic::error("syntax", format!("expected `;`, found {found}"))
                    .at(self.last_span().after(), format!("a `;` must end {after}")),
            );
        }
        Err(Failed)
    }

    /// The `}` that ends what `open` began.
    fn close(&mut self, open: Span, what: &str) -> Parsed<Span> {
        if self.tok() == &Tok::RBrace {
            return Ok(self.bump());
        }
        if self.tok() != &Tok::Bad {
            let found = self.found();
            let help = match self.tok() {
                Tok::FatArrow => Some("implication is written `->`".to_owned()),
                Tok::OrOr | Tok::AndAnd if what == "an expression" => Some(ERE_OPERATORS.to_owned()),
                _ => None,
            };
            self.out.push(
                Diagnostic::error("syntax", format!("expected {what} or `}}`, found {found}"))
                    .at(self.span(), format!("expected {what} or `}}`"))
                    .at(open, "to close this")
                    .maybe_help(help),
            );
        }
        Err(Failed)
    }

    /// The `)` that ends what `open` began.
    fn close_parenthesis(&mut self, open: Span) -> Parsed<Span> {
        if self.tok() == &Tok::RParen {
            return Ok(self.bump());
        }
        if self.tok() != &Tok::Bad {
            let found = self.found();
            self.out.push(
                Diagnostic::error("syntax", format!("expected an operator or `)`, found {found}"))
                    .at(self.span(), "expected an operator or `)`")
                    .at(open, "to close this"),
            );
        }
        Err(Failed)
    }

    fn nested<T>(&mut self, parse: impl FnOnce(&mut Self) -> Parsed<T>) -> Parsed<T> {
        if self.depth >= MAX_DEPTH {
            let span = self.span();
            return self.too_deep(span);
        }
        self.depth += 1;
        let result = parse(self);
        self.depth -= 1;
        result
    }

    fn too_deep<T>(&mut self, span: Span) -> Parsed<T> {
        self.out.push(
            Diagnostic::error("limit", format!("nested more than {MAX_DEPTH} levels deep"))
                .at(span, "too deep here")
                .help("name a part of it with `let`, or split the property"),
        );
        Err(Failed)
    }

    /// A name that may be declared or used.
    fn name(&mut self, what: &str) -> Parsed<Name> {
        if let Tok::Quoted(text) = self.tok()
            && self.inline
        {
            let text = text.clone();
            return Ok(Name { text, span: self.bump() });
        }
        let Some(word) = self.word() else { return self.expected(what) };
        if is_reserved(word) {
            let help = format!("`{word}` is a word of the language: choose another name, e.g. `{word}_`");
            return self.expected_with(what, Some(help));
        }
        let span = self.bump();
        Ok(Name { text: word.to_owned(), span })
    }

    fn string(&mut self, what: &str) -> Parsed<Text> {
        let Tok::Str(value) = self.tok() else { return self.expected(what) };
        let value = value.clone();
        Ok(Text { value, span: self.bump() })
    }

    /// Whether a declaration begins here: its word, and what must come after it (`lock` is also a sort).
    fn at_declaration(&self) -> bool {
        match self.word() {
            Some("explore") => self.ahead(1).tok == Tok::LBrace,
            Some("import") => matches!(self.ahead(1).tok, Tok::Str(_)),
            Some("lock") => self.word_ahead(1).is_some_and(|w| w != "where"),
            Some(word) => DECLARATION_WORDS.contains(&word) && self.ahead(1).tok == Tok::Word,
            None => false,
        }
    }

    /// Goes on behind the next `;`, or before the `}` that ends this block, or before the next declaration.
    fn synchronize(&mut self) {
        let mut open = 0usize;
        loop {
            match self.tok() {
                Tok::Eof => return,
                Tok::Semi if open == 0 => {
                    self.bump();
                    return;
                }
                Tok::RBrace if open == 0 => return,
                Tok::RBrace => {
                    open -= 1;
                    self.bump();
                    if open == 0 && !self.at_word("with") {
                        self.eat(&Tok::Semi);
                        return;
                    }
                    continue;
                }
                Tok::LBrace => open += 1,
                Tok::Word if self.at_declaration() => return,
                _ => {}
            }
            self.bump();
        }
    }

    /// Goes on behind the `}` that closes the block we are in, or before the next declaration.
    fn leave_block(&mut self) {
        let mut open = 1usize;
        loop {
            match self.tok() {
                Tok::Eof => return,
                Tok::RBrace => {
                    open -= 1;
                    if open == 0 {
                        self.bump();
                        return;
                    }
                }
                Tok::LBrace => open += 1,
                Tok::Word if self.at_declaration() => return,
                _ => {}
            }
            self.bump();
        }
    }

    fn file(&mut self) -> File {
        let mut items = Vec::new();
        while self.tok() != &Tok::Eof && !self.out.full() {
            let item = if self.at_word("spec") {
                self.spec().map(Item::Spec)
            } else if self.at_word("import") {
                self.import()
            } else {
                self.stray()
            };
            match item {
                Ok(item) => items.push(item),
                Err(Failed) => {
                    while self.tok() != &Tok::Eof && !self.at_word("spec") && !self.at_word("import") {
                        self.bump();
                    }
                }
            }
        }
        File { items }
    }

    fn stray(&mut self) -> Parsed<Item> {
        let help = if self.tok() == &Tok::RBrace {
            Some("there is one `}` too many".to_owned())
        } else {
            self.at_declaration().then(|| "declarations stand inside `spec NAME { … }`".to_owned())
        };
        self.expected_with("`spec` or `import`", help)
    }

    fn import(&mut self) -> Parsed<Item> {
        self.bump();
        let path = self.string("the name of a file in quotes")?;
        self.semi("the import")?;
        Ok(Item::Import(path))
    }

    fn spec(&mut self) -> Parsed<Spec> {
        let start = self.bump();
        let name = self.name("a name for the specification")?;
        let open = self.expect(&Tok::LBrace, "`{`")?;
        let mut decls = Vec::new();
        loop {
            if self.tok() == &Tok::RBrace {
                let span = start.to(self.bump());
                return Ok(Spec { name, decls, span });
            }
            if self.tok() == &Tok::Eof || (self.at_word("spec") && self.at_declaration()) || self.out.full() {
                let _ = self.close(open, "a declaration");
                let span = start.to(self.last_span());
                return Ok(Spec { name, decls, span });
            }
            decls.push(self.declaration());
        }
    }
}
