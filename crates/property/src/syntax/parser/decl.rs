//! Declarations other than properties.

use super::{Failed, Parsed, Parser, is_name};
use crate::syntax::ast::{
    Action, Check, Decl, Event, Handler, Let, Lock, Name, Origin, Outcome, Region, Side, Suppress, Variable, What, When,
};
use crate::syntax::token::{DECLARATION_WORDS, Tok};

const CHECKS: [(&str, u8); 5] = [("races", 0), ("deadlocks", 1), ("atomicity", 2), ("mutex", 3), ("lost_wakeup", 4)];

impl Parser<'_> {
    /// One declaration; what cannot be read is skipped.
    pub(super) fn declaration(&mut self) -> Decl {
        self.current = None;
        let before = self.at;
        match self.try_declaration() {
            Ok(decl) => decl,
            Err(Failed) => {
                if self.at == before && self.tok() != &Tok::Semi {
                    self.bump();
                }
                self.synchronize();
                Decl::Broken(self.current.take())
            }
        }
    }

    fn try_declaration(&mut self) -> Parsed<Decl> {
        let start = self.span();
        match self.word() {
            Some("target") => {
                self.bump();
                let lang = self.lang()?;
                let span = start.to(self.last_span());
                self.semi("the declaration")?;
                Ok(Decl::Target(lang, span))
            }
            Some("shared") => self.variable(true).map(Decl::Shared),
            Some("local") => self.variable(false).map(Decl::Local),
            Some("lock") => self.lock(),
            Some("region") => self.region(),
            Some("event") => self.event(),
            Some("let") => self.let_decl(),
            Some("property") => self.property(),
            Some("check") => self.check(),
            Some("explore") => {
                self.bump();
                self.settings().map(Decl::Explore)
            }
            Some("on") => self.handler().map(Decl::Handler),
            Some("suppress") => self.suppress(),
            word => {
                let near = word.and_then(|w| crate::check::nearest(w, DECLARATION_WORDS.iter().copied()));
                let help = match (near, self.tok()) {
                    (Some(near), _) => Some(format!("did you mean `{near}`?")),
                    (None, Tok::Semi) => Some("remove the `;`: blocks in braces need none".to_owned()),
                    (None, _) => Some(format!("declarations begin with {}", DECLARATION_WORDS[2..].join(", "))),
                };
                self.expected_with("a declaration", help)
            }
        }
    }

    fn declared_name(&mut self, what: &str) -> Parsed<Name> {
        let name = self.name(what)?;
        self.current = Some(name.clone());
        Ok(name)
    }

    fn variable(&mut self, shared: bool) -> Parsed<Variable> {
        self.bump();
        if let Some(name) = self.word_ahead(1).filter(|name| is_name(name)) {
            // Known even if the type is not, so that its uses are not mistakes too.
            self.current = Some(Name { text: name.to_owned(), span: self.ahead(1).span });
        }
        let ty = self.ty()?;
        let name = self.declared_name("the name of a variable")?;
        let index = if shared { self.index()? } else { None };
        let init = if self.eat(&Tok::Eq) { Some(self.constant()?) } else { None };
        let place = if self.eat_word("at") {
            Some(self.place()?)
        } else if shared {
            let help = format!("say where it is in the program, for example `at c {}`", name.text);
            return self.expected_with(if init.is_some() { "`at`" } else { "`=` or `at`" }, Some(help));
        } else {
            None
        };
        self.semi("the declaration")?;
        Ok(Variable { ty, name, index, init, place })
    }

    fn at_place(&mut self) -> Parsed<crate::syntax::ast::Place> {
        if !self.eat_word("at") {
            let help = "say where it is in the program, for example `at java Server.critical`".to_owned();
            return self.expected_with("`at`", Some(help));
        }
        self.place()
    }

    fn lock(&mut self) -> Parsed<Decl> {
        self.bump();
        let name = self.declared_name("the name of a lock")?;
        let index = self.index()?;
        let place = self.at_place()?;
        self.semi("the declaration")?;
        Ok(Decl::Lock(Lock { name, index, place }))
    }

    fn region(&mut self) -> Parsed<Decl> {
        self.bump();
        let name = self.declared_name("the name of a region")?;
        let place = self.at_place()?;
        self.semi("the declaration")?;
        Ok(Decl::Region(Region { name, place }))
    }

    fn event(&mut self) -> Parsed<Decl> {
        self.bump();
        let name = self.declared_name("the name of an event")?;
        let params = self.params()?;
        if self.eat(&Tok::Eq) {
            let body = self.formula()?;
            self.semi("the declaration")?;
            return Ok(Decl::Let(Let { is_event: true, name, params, body }));
        }
        if !self.eat_word("at") {
            let help = format!("`event {} at PLACE;` or `event {} = FORMULA;`", name.text, name.text);
            return self.expected_with("`=` or `at`", Some(help));
        }
        let place = self.place()?;
        let when =
            if self.eat_word("before") { Some(When::Before) } else { self.eat_word("after").then_some(When::After) };
        let side = if self.eat_word("call") { Some(Side::Call) } else { self.eat_word("exec").then_some(Side::Exec) };
        let mut origins = Vec::new();
        if self.eat(&Tok::LParen) {
            loop {
                let start = self.span();
                let origin = self.origin()?;
                origins.push((origin, start.to(self.last_span())));
                if !self.eat(&Tok::Comma) {
                    break;
                }
            }
            self.expect(&Tok::RParen, "`,` or `)`")?;
        }
        self.semi("the declaration")?;
        Ok(Decl::Event(Event { name, params, place, when, side, origins }))
    }

    /// `this`, `result`, `arg N` (also `argN`).
    fn origin(&mut self) -> Parsed<Origin> {
        if let Some(number) = self.word().and_then(|w| w.strip_prefix("arg")).and_then(|n| n.parse().ok()) {
            self.bump();
            return Ok(Origin::Arg(number));
        }
        match self.choice("`this`, `result` or `arg N`", &[("this", 0u8), ("result", 1), ("arg", 2)])? {
            0 => Ok(Origin::This),
            1 => Ok(Origin::Result),
            _ => {
                let Tok::Int(number) = *self.tok() else { return self.expected("the number of an argument") };
                let Ok(number) = u32::try_from(number) else { return self.expected("a smaller number") };
                self.bump();
                Ok(Origin::Arg(number))
            }
        }
    }

    fn let_decl(&mut self) -> Parsed<Decl> {
        self.bump();
        let name = self.declared_name("a name")?;
        let params = self.params()?;
        self.expect(&Tok::Eq, "`=`")?;
        let body = self.formula()?;
        self.semi("the declaration")?;
        Ok(Decl::Let(Let { is_event: false, name, params, body }))
    }

    fn check(&mut self) -> Parsed<Decl> {
        let start = self.bump();
        let which = self.choice("what to check", &CHECKS)?;
        let span = start.to(self.last_span());
        let what = match which {
            0 => {
                let on = if self.eat_word("on") { self.names("the name of a variable")? } else { Vec::new() };
                let using = if self.eat_word("using") { Some(self.hyphenated("a detector or a model")?) } else { None };
                What::Races(on, using)
            }
            1 => What::Deadlocks(self.upto()?),
            2 => What::Atomicity(self.of_names()?),
            3 => What::Mutex(self.of_names()?),
            _ => {
                let on = if self.eat_word("on") { self.names("the name of a lock")? } else { Vec::new() };
                What::LostWakeup(on)
            }
        };
        let settings = self.with_settings()?;
        self.semi("the check")?;
        Ok(Decl::Check(Check { what, settings, span }))
    }

    fn upto(&mut self) -> Parsed<Option<(u64, crate::syntax::Span)>> {
        if !self.eat_word("upto") {
            return Ok(None);
        }
        let Tok::Int(count) = *self.tok() else { return self.expected("a number of threads") };
        let span = self.bump();
        if !self.eat_word("threads") {
            return self.expected("`threads`");
        }
        Ok(Some((count, span)))
    }

    fn of_names(&mut self) -> Parsed<Vec<Name>> {
        if !self.eat_word("of") {
            return self.expected("`of` and the names of regions");
        }
        self.names("the name of a region")
    }

    pub(super) fn handler(&mut self) -> Parsed<Handler> {
        let start = self.bump();
        let outcome = self.choice("an outcome", &Outcome::ALL.map(|o| (o.text(), o)))?;
        let span = start.to(self.last_span());
        let actions = self.block("an action", Self::action)?;
        Ok(Handler { outcome, actions, span })
    }

    fn action(&mut self) -> Parsed<Action> {
        let list = [("report", 0u8), ("call", 1), ("exec", 2), ("exit", 3), ("stop", 4)];
        let action = match self.choice("an action", &list)? {
            0 => match self.tok() {
                Tok::Str(_) => Action::Report(Some(self.string("a text")?)),
                _ => Action::Report(None),
            },
            1 => Action::Call(self.place()?),
            2 => Action::Exec(self.string("a command in quotes")?),
            3 => {
                let Tok::Int(code) = *self.tok() else { return self.expected("an exit code") };
                Action::Exit(code, self.bump())
            }
            _ => Action::Stop,
        };
        self.semi("the action")?;
        Ok(action)
    }

    fn suppress(&mut self) -> Parsed<Decl> {
        self.bump();
        let name = self.name("the name of a property")?;
        if !self.eat_word("at") {
            return self.expected("`at`");
        }
        let at = self.string("a place \"File:line\"")?;
        let because = if self.eat_word("because") { Some(self.string("a reason in quotes")?) } else { None };
        self.semi("the declaration")?;
        Ok(Decl::Suppress(Suppress { name, at, because }))
    }
}
