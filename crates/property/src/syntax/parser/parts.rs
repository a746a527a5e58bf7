//! Parts that several declarations share: places, sorts, constants, parameters, settings.

use super::{Failed, Parsed, Parser};
use crate::syntax::Diagnostic;
use crate::syntax::ast::{Const, ConstKind, Lang, Name, Param, Params, Place, Setting, SettingValue, Sort, Type};
use crate::syntax::token::Tok;

impl Parser<'_> {
    /// A word out of a list. What is not in it is complained of, with the list.
    pub(super) fn choice<T: Copy>(&mut self, what: &str, list: &[(&'static str, T)]) -> Parsed<T> {
        let found = self.word().and_then(|w| list.iter().find(|(text, _)| *text == w));
        if let Some(&(_, value)) = found {
            self.bump();
            return Ok(value);
        }
        let words: Vec<String> = list.iter().map(|(text, _)| format!("`{text}`")).collect();
        let nearest = self.word().and_then(|w| crate::check::nearest(w, list.iter().map(|(text, _)| *text)));
        let help = match nearest {
            Some(near) => format!("did you mean `{near}`?"),
            None => format!("one of {}", words.join(", ")),
        };
        self.expected_with(what, Some(help))
    }

    pub(super) fn lang(&mut self) -> Parsed<Lang> {
        self.choice("a language", &Lang::ALL.map(|l| (l.text(), l)))
    }

    pub(super) fn ty(&mut self) -> Parsed<Type> {
        self.choice("a type", &Type::ALL.map(|t| (t.text(), t)))
    }

    pub(super) fn place(&mut self) -> Parsed<Place> {
        let lang = self.lang()?;
        if let Tok::Str(_) = self.tok() {
            let text = self.string("a place")?;
            return Ok(Place { lang, path: text.value, quoted: true, span: text.span });
        }
        let path = self.path("a place in the program")?;
        Ok(Place { lang, path: path.text, quoted: false, span: path.span })
    }

    /// A name continued without blanks by `.`, `::`, `#` or `:` parts. Any word will do: `Server.exit`.
    pub(super) fn path(&mut self, what: &str) -> Parsed<Name> {
        if self.tok() != &Tok::Word {
            return self.expected(what);
        }
        let start = self.bump();
        let mut end = start;
        while matches!(self.tok(), Tok::Dot | Tok::ColonColon | Tok::Hash | Tok::Colon) && self.span().start == end.end
        {
            let separator = self.span();
            let part = self.ahead(1);
            let touches = part.span.start == separator.end;
            let special = part.tok == Tok::Lt && self.ahead(2).tok == Tok::Word && self.ahead(3).tok == Tok::Gt;
            let parts = match part.tok {
                Tok::Word | Tok::Int(_) if touches => 1,
                // `<init>` and `<clinit>` of Java.
                Tok::Lt if touches && special => 3,
                _ => break,
            };
            for _ in 0..=parts {
                end = self.bump();
            }
        }
        let span = start.to(end);
        Ok(Name { text: self.text[span.range()].to_owned(), span })
    }

    pub(super) fn sort(&mut self) -> Parsed<Sort> {
        if self.eat_word("object") {
            // `object<>` would be read as one sign; it says nothing and is not allowed.
            if !self.eat(&Tok::Lt) {
                return Ok(Sort::Object(None));
            }
            let class = self.path("the name of a class")?;
            self.expect(&Tok::Gt, "`>`")?;
            return Ok(Sort::Object(Some(class.text)));
        }
        let mut list = vec![("thread", Sort::Thread), ("lock", Sort::Lock), ("object", Sort::Object(None))];
        list.extend(Type::ALL.map(|t| (t.text(), Sort::Value(t))));
        let refs: Vec<(&'static str, usize)> = list.iter().enumerate().map(|(i, (text, _))| (*text, i)).collect();
        let chosen = self.choice("what it stands for", &refs)?;
        Ok(list.swap_remove(chosen).1)
    }

    pub(super) fn param(&mut self) -> Parsed<Param> {
        let name = self.name("a parameter")?;
        if self.tok() != &Tok::Colon {
            let help = format!("say what it stands for: `{} : thread`", name.text);
            return self.expected_with("`:`", Some(help));
        }
        self.bump();
        let start = self.span();
        let sort = self.sort()?;
        Ok(Param { name, sort, sort_span: start.to(self.last_span()) })
    }

    /// Parameters in parentheses, if there are any.
    pub(super) fn params(&mut self) -> Parsed<Params> {
        let mut params = Params::default();
        if !self.eat(&Tok::LParen) {
            return Ok(params);
        }
        // `()` means "none" to most writers.
        if self.eat(&Tok::RParen) {
            return Ok(params);
        }
        loop {
            params.list.push(self.param()?);
            if !self.eat(&Tok::Comma) {
                break;
            }
        }
        if self.eat_word("where") {
            params.filter = Some(self.formula()?);
        }
        self.expect(&Tok::RParen, "`,` or `)`")?;
        Ok(params)
    }

    pub(super) fn index(&mut self) -> Parsed<Option<Param>> {
        if !self.eat(&Tok::LBracket) {
            return Ok(None);
        }
        let param = self.param()?;
        self.expect(&Tok::RBracket, "`]`")?;
        Ok(Some(param))
    }

    pub(super) fn constant(&mut self) -> Parsed<Const> {
        let start = self.span();
        let minus = self.eat(&Tok::Minus);
        let kind = match self.tok().clone() {
            Tok::Int(value) => match (minus, value) {
                (true, value) => ConstKind::Int((value as i64).wrapping_neg()),
                (false, value) if value <= i64::MAX as u64 => ConstKind::Int(value as i64),
                _ => {
                    let span = self.bump();
                    self.out.push(crate::check::too_large(span));
                    return Err(Failed);
                }
            },
            Tok::Real(value) => ConstKind::Real(if minus { -value } else { value }),
            Tok::Str(value) if !minus => ConstKind::Str(value),
            Tok::Word if !minus => match self.word() {
                Some("true") => ConstKind::Bool(true),
                Some("false") => ConstKind::Bool(false),
                Some("unknown") => ConstKind::Unknown,
                _ => return self.expected_with("a constant", Some(CONSTANTS.to_owned())),
            },
            _ => return self.expected_with("a constant", Some(CONSTANTS.to_owned())),
        };
        Ok(Const { kind, span: start.to(self.bump()) })
    }

    /// A word of a setting: hyphens between its parts are underscores.
    pub(super) fn hyphenated(&mut self, what: &str) -> Parsed<Name> {
        let Some(word) = self.word() else { return self.expected(what) };
        let mut text = word.to_owned();
        let start = self.bump();
        let mut end = start;
        while self.tok() == &Tok::Minus && self.span().start == end.end && self.ahead(1).tok == Tok::Word {
            self.bump();
            text.push('_');
            text.push_str(self.word().unwrap_or_default());
            end = self.bump();
        }
        Ok(Name { text, span: start.to(end) })
    }

    fn setting(&mut self) -> Parsed<Setting> {
        let name = self.hyphenated("a setting")?;
        if self.tok() != &Tok::Eq {
            return self.expected_with("`=`", Some(format!("settings look like `{} = value;`", name.text)));
        }
        self.bump();
        let value = match self.word() {
            Some("true" | "false" | "unknown") | None => SettingValue::Const(self.constant()?),
            Some(_) => SettingValue::Word(self.hyphenated("a value")?),
        };
        self.semi("the setting")?;
        Ok(Setting { name, value })
    }

    /// `{ setting … }`
    pub(super) fn settings(&mut self) -> Parsed<Vec<Setting>> {
        self.block("a setting", Self::setting)
    }

    /// `with { … }`, if there.
    pub(super) fn with_settings(&mut self) -> Parsed<Vec<Setting>> {
        if self.eat_word("with") { self.settings() } else { Ok(Vec::new()) }
    }

    /// `{ item … }`: a mistake in one item does not hide the next.
    pub(super) fn block<T>(&mut self, what: &str, mut item: impl FnMut(&mut Self) -> Parsed<T>) -> Parsed<Vec<T>> {
        let open = self.expect(&Tok::LBrace, "`{`")?;
        let mut items = Vec::new();
        loop {
            if self.tok() == &Tok::RBrace {
                self.bump();
                return Ok(items);
            }
            if self.tok() == &Tok::Eof || self.at_declaration() {
                self.close(open, what)?;
            }
            let before = self.at;
            match item(self) {
                Ok(item) => items.push(item),
                Err(Failed) => {
                    if self.at == before && self.tok() != &Tok::Semi {
                        self.bump();
                    }
                    self.synchronize();
                }
            }
            if self.out.full() {
                return Err(Failed);
            }
        }
    }

    pub(super) fn names(&mut self, what: &str) -> Parsed<Vec<Name>> {
        let mut names = vec![self.name(what)?];
        while self.eat(&Tok::Comma) {
            names.push(self.name(what)?);
        }
        Ok(names)
    }

    pub(super) fn complain(&mut self, diagnostic: Diagnostic) {
        self.out.push(diagnostic);
    }
}

const CONSTANTS: &str = "constants are numbers, strings, `true`, `false` and `unknown`";
