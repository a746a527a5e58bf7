//! Extended regular expressions.

use super::{MAX_DEPTH, Parsed, Parser};
use crate::syntax::Span;
use crate::syntax::ast::{Ere, EreKind, Expr, ExprKind, Repeat};
use crate::syntax::token::Tok;

impl Parser<'_> {
    fn ere_node(&mut self, kind: EreKind, span: Span) -> Parsed<Box<Ere>> {
        let ere = Ere::new(kind, span);
        if ere.height() > MAX_DEPTH { self.too_deep(span) } else { Ok(Box::new(ere)) }
    }

    pub(super) fn ere(&mut self) -> Parsed<Box<Ere>> {
        self.nested(|p| {
            let first = p.ere_and()?;
            p.ere_list(first, &Tok::Pipe, Self::ere_and, EreKind::Or)
        })
    }

    fn ere_and(&mut self) -> Parsed<Box<Ere>> {
        let first = self.ere_cat()?;
        self.ere_list(first, &Tok::Amp, Self::ere_cat, EreKind::And)
    }

    fn ere_list(
        &mut self,
        first: Box<Ere>,
        separator: &Tok,
        item: impl Fn(&mut Self) -> Parsed<Box<Ere>>,
        make: impl FnOnce(Vec<Ere>) -> EreKind,
    ) -> Parsed<Box<Ere>> {
        if self.tok() != separator {
            return Ok(first);
        }
        let start = first.span;
        let mut list = vec![*first];
        while self.eat(separator) {
            list.push(*item(self)?);
        }
        let span = start.to(self.last_span());
        self.ere_node(make(list), span)
    }

    fn ere_cat(&mut self) -> Parsed<Box<Ere>> {
        let first = self.ere_repeat()?;
        let start = first.span;
        let mut list = vec![*first];
        while matches!(self.tok(), Tok::Word | Tok::LParen | Tok::LBrace | Tok::Tilde) {
            list.push(*self.ere_repeat()?);
        }
        match list.len() {
            1 => list.pop().map(Box::new).ok_or(super::Failed),
            _ => {
                let span = start.to(self.last_span());
                self.ere_node(EreKind::Cat(list), span)
            }
        }
    }

    fn ere_repeat(&mut self) -> Parsed<Box<Ere>> {
        let mut ere = self.ere_atom()?;
        loop {
            let repeat = match self.tok() {
                Tok::Star => Repeat::Star,
                Tok::Plus => Repeat::Plus,
                Tok::Question => Repeat::Opt,
                _ => return Ok(ere),
            };
            let span = ere.span.to(self.bump());
            ere = self.ere_node(EreKind::Repeat(repeat, ere), span)?;
        }
    }

    fn ere_atom(&mut self) -> Parsed<Box<Ere>> {
        let start = self.span();
        match self.tok() {
            Tok::LParen => {
                self.bump();
                let mut inner = self.ere()?;
                let end = self.close_parenthesis(start)?;
                inner.span = start.to(end);
                Ok(inner)
            }
            Tok::LBrace => {
                self.bump();
                let formula = Box::new(self.formula()?);
                let end = self.close(start, "an operator")?;
                self.ere_node(EreKind::State(formula), start.to(end))
            }
            Tok::Tilde => self.nested(|p| {
                p.bump();
                let inner = p.ere_atom()?;
                let span = start.to(inner.span);
                p.ere_node(EreKind::Not(inner), span)
            }),
            Tok::Word if self.at_word("any") => {
                self.bump();
                self.ere_node(EreKind::Any, start)
            }
            Tok::Word if self.at_word("eps") => {
                self.bump();
                self.ere_node(EreKind::Eps, start)
            }
            Tok::Word => {
                let name = self.name("an event")?;
                let event = if self.tok() == &Tok::LParen && self.span().start == name.span.end {
                    self.call(start, name)?
                } else {
                    Box::new(Expr::new(ExprKind::Name(name.text), name.span))
                };
                let span = event.span;
                self.ere_node(EreKind::Event(event), span)
            }
            Tok::OrOr | Tok::AndAnd | Tok::Bang => {
                let help = super::ERE_OPERATORS.to_owned();
                self.expected_with("an event, `any`, `eps`, `{`, `(` or `~`", Some(help))
            }
            _ => self.expected("an event, `any`, `eps`, `{`, `(` or `~`"),
        }
    }
}
