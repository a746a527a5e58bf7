//! Properties: their bodies, settings and handlers.

use super::{Failed, Parsed, Parser};
use crate::Otherwise;
use crate::syntax::Diagnostic;
use crate::syntax::ast::{Body, Decl, EreMode, Fsm, Property, State, Transition};
use crate::syntax::token::Tok;

const LOGICS: [(&str, u8); 6] = [("past", 0), ("future", 1), ("mttl", 2), ("ere", 3), ("fsm", 4), ("logic", 5)];
const MODES: [(&str, EreMode); 3] =
    [("never", EreMode::Never), ("never_from_start", EreMode::NeverFromStart), ("follows", EreMode::Follows)];

impl Parser<'_> {
    pub(super) fn property(&mut self) -> Parsed<Decl> {
        let start = self.bump();
        let name = self.name("a name for the property")?;
        self.current = Some(name.clone());
        let params = self.params()?;
        let logic = self.choice("a logic", &LOGICS)?;
        let body = self.body(logic)?;
        let settings = self.with_settings()?;
        let span = start.to(self.last_span());
        let mut handlers = Vec::new();
        while self.at_word("on") && !self.out.full() {
            match self.handler() {
                Ok(handler) => handlers.push(handler),
                Err(Failed) => self.synchronize(),
            }
        }
        Ok(Decl::Property(Box::new(Property { name, params, body, settings, handlers, span })))
    }

    fn body(&mut self, logic: u8) -> Parsed<Body> {
        let thread = if logic == 2 {
            if !self.eat_word("at") {
                let help = "for example `mttl at i { … }`, where i is a parameter of sort thread".to_owned();
                return self.expected_with("`at`", Some(help));
            }
            Some(self.name("the name of a thread")?)
        } else {
            None
        };
        let mode = if logic == 3 { self.choice("a mode", &MODES)? } else { EreMode::Never };
        let kind = if logic == 5 { Some(self.string("the name of a logic in quotes")?) } else { None };
        let open = self.expect(&Tok::LBrace, "`{`")?;
        let before = self.out.len();
        let body = match (logic, thread, kind) {
            (1, ..) => self.formula().map(Body::Future),
            (2, Some(thread), _) => self.formula().map(|f| Body::Mttl(thread, f)),
            (3, ..) => self.ere().map(|e| Body::Ere(mode, *e)),
            (4, ..) => self.fsm().map(Body::Fsm),
            (5, _, Some(kind)) => {
                let mut lines = Vec::new();
                while let Tok::Str(_) = self.tok() {
                    lines.push(self.string("a line in quotes")?);
                }
                Ok(Body::Logic(kind, lines))
            }
            _ => self.formula().map(Body::Past),
        };
        let wanted = match logic {
            4 => "a state",
            5 => "a line in quotes",
            3 => "an expression",
            _ => "an operator",
        };
        match body.and_then(|body| self.close(open, wanted).map(|_| body)) {
            // A machine of which a part is missing would only give rise to more complaints.
            Ok(Body::Fsm(_)) if self.out.len() > before => Ok(Body::Broken),
            Ok(body) => Ok(body),
            Err(Failed) => {
                self.leave_block();
                Ok(Body::Broken)
            }
        }
    }

    fn fsm(&mut self) -> Parsed<Fsm> {
        let init = self.fsm_name("init")?;
        let bad = self.fsm_name("bad")?;
        let otherwise = if self.at_word("otherwise") && self.ahead(1).tok == Tok::Word {
            self.bump();
            let list = [("stay", Otherwise::Stay), ("die", Otherwise::Die), ("bad", Otherwise::Bad)];
            let otherwise = self.choice("`stay`, `die` or `bad`", &list)?;
            self.semi("it")?;
            Some(otherwise)
        } else {
            None
        };
        let mut states = Vec::new();
        while self.tok() == &Tok::Word && !self.at_declaration() {
            let name = self.name("the name of a state")?;
            let transitions = self.block("a transition", Self::transition)?;
            states.push(State { name, transitions });
        }
        if states.is_empty() {
            return self.expected("a state");
        }
        Ok(Fsm { init, bad, otherwise, states })
    }

    /// `init NAME;` or `bad NAME;`
    fn fsm_name(&mut self, word: &str) -> Parsed<crate::syntax::ast::Name> {
        if !self.eat_word(word) {
            let help = "a machine begins with `init STATE; bad STATE;`".to_owned();
            return self.expected_with(&format!("`{word}`"), Some(help));
        }
        let name = self.name("the name of a state")?;
        self.semi("it")?;
        Ok(name)
    }

    fn transition(&mut self) -> Parsed<Transition> {
        let start = self.span();
        let guard = if self.eat_word("else") { None } else { Some(self.formula()?) };
        let span = start.to(self.last_span());
        if self.tok() == &Tok::Arrow {
            // Not reached after a formula, where `->` is an operator; only `else -> s`.
            let diagnostic =
                Diagnostic::error("syntax", "transitions are written with `=>`").at(self.span(), "write `=>`");
            self.complain(diagnostic);
            return Err(Failed);
        }
        if self.tok() != &Tok::FatArrow {
            return self.expected_with("`=>`", Some("a transition is `guard => state;`".to_owned()));
        }
        self.bump();
        let targets = self.names("the name of a state")?;
        self.semi("the transition")?;
        Ok(Transition { guard, span, targets })
    }
}
