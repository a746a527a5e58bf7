//! Formulas and values: precedence climbing over the operators of the grammar.

use super::{MAX_DEPTH, Parsed, Parser};
use crate::syntax::ast::{BinOp, Domain, Expr, ExprKind, ListOp, Name, Quantifier, UnOp};
use crate::syntax::token::{PREFIX_ALIASES, Symbol, Tok};
use crate::syntax::{Diagnostic, Span};

/// An infix operator.
#[derive(Clone, Copy, PartialEq)]
enum Infix {
    List(ListOp),
    Binary(BinOp),
}

/// The level of prefix operators: above those of formulas, below comparisons and arithmetic.
const UNARY: u8 = 5;
const COMPARISON: u8 = 6;
/// The level of minus before a value.
const NEGATED: u8 = 9;
const ATOM: u8 = 10;

impl Infix {
    fn level(self) -> u8 {
        match self {
            Infix::List(ListOp::Or) => 2,
            Infix::List(ListOp::And) => 3,
            Infix::Binary(op) => match op {
                BinOp::Iff => 0,
                BinOp::Implies => 1,
                BinOp::Since | BinOp::WSince | BinOp::Until | BinOp::WUntil | BinOp::Releases => 4,
                BinOp::Eq | BinOp::Ne | BinOp::Le | BinOp::Ge | BinOp::Lt | BinOp::Gt => COMPARISON,
                BinOp::Add | BinOp::Sub => 7,
                BinOp::Mul | BinOp::Div | BinOp::Rem => 8,
            },
        }
    }

    /// The lowest level of its right operand.
    fn right_level(self) -> u8 {
        match self.level() {
            right_associative @ (1 | 4) => right_associative,
            level => level + 1,
        }
    }

    fn text(self) -> &'static str {
        match self {
            Infix::List(op) => op.text(),
            Infix::Binary(op) => op.text(),
        }
    }
}

impl Parser<'_> {
    pub(super) fn formula(&mut self) -> Parsed<Expr> {
        self.climb(0).map(|e| *e)
    }

    /// A node, unless it is too high.
    fn node(&mut self, kind: ExprKind, span: Span) -> Parsed<Box<Expr>> {
        let expr = Expr::new(kind, span);
        if expr.height() > MAX_DEPTH { self.too_deep(span) } else { Ok(Box::new(expr)) }
    }

    /// Precedence climbing: one function for all levels, and results in boxes, so that a level of nesting costs little
    /// of the stack.
    fn climb(&mut self, lowest: u8) -> Parsed<Box<Expr>> {
        if self.depth >= MAX_DEPTH {
            let span = self.span();
            return self.too_deep(span);
        }
        self.depth += 1;
        let result = self.operand(lowest).and_then(|left| self.operators(left, lowest));
        self.depth -= 1;
        result
    }

    /// The infix operators after an operand, and their other operands.
    fn operators(&mut self, mut left: Box<Expr>, lowest: u8) -> Parsed<Box<Expr>> {
        // The list operator whose operands are being collected in `left`.
        let mut open = None;
        let mut compared: Option<Span> = None;
        while let Some((op, known)) = self.infix().filter(|(op, _)| op.level() >= lowest) {
            let op_span = self.bump();
            if !known {
                self.misspelled(op_span, op.text());
            }
            if op.level() == COMPARISON
                && let Some(first) = compared.replace(op_span)
            {
                return self.chained(op_span, first);
            }
            let right = self.climb(op.right_level())?;
            let span = left.span.to(right.span);
            let kind = match op {
                Infix::Binary(op) => {
                    open = None;
                    ExprKind::Binary(op, op_span, left, right)
                }
                Infix::List(op) if open == Some(op) => {
                    left.push(*right);
                    if left.height() > MAX_DEPTH {
                        return self.too_deep(span);
                    }
                    continue;
                }
                Infix::List(op) => {
                    open = Some(op);
                    ExprKind::List(op, vec![*left, *right])
                }
            };
            left = self.node(kind, span)?;
        }
        Ok(left)
    }

    fn chained<T>(&mut self, second: Span, first: Span) -> Parsed<T> {
        let diagnostic = Diagnostic::error("syntax", "comparisons cannot be chained")
            .at(second, "a second comparison")
            .at(first, "the first one")
            .help("write `a < b && b < c`");
        self.complain(diagnostic);
        Err(super::Failed)
    }

    /// The infix operator here, and whether it is spelled right.
    fn infix(&self) -> Option<(Infix, bool)> {
        Some(match self.tok() {
            Tok::IffArrow => (Infix::Binary(BinOp::Iff), true),
            Tok::Arrow => (Infix::Binary(BinOp::Implies), true),
            Tok::OrOr => (Infix::List(ListOp::Or), true),
            Tok::AndAnd => (Infix::List(ListOp::And), true),
            Tok::EqEq => (Infix::Binary(BinOp::Eq), true),
            Tok::Eq => (Infix::Binary(BinOp::Eq), false),
            Tok::Ne => (Infix::Binary(BinOp::Ne), true),
            Tok::Le => (Infix::Binary(BinOp::Le), true),
            Tok::Ge => (Infix::Binary(BinOp::Ge), true),
            Tok::Lt => (Infix::Binary(BinOp::Lt), true),
            Tok::Gt => (Infix::Binary(BinOp::Gt), true),
            Tok::Plus => (Infix::Binary(BinOp::Add), true),
            Tok::Minus => (Infix::Binary(BinOp::Sub), true),
            Tok::Star => (Infix::Binary(BinOp::Mul), true),
            Tok::Slash => (Infix::Binary(BinOp::Div), true),
            Tok::Percent => (Infix::Binary(BinOp::Rem), true),
            Tok::Pipe => (Infix::List(ListOp::Or), false),
            Tok::Amp => (Infix::List(ListOp::And), false),
            Tok::Word => match self.word()? {
                "since" | "S" => (Infix::Binary(BinOp::Since), true),
                "wsince" => (Infix::Binary(BinOp::WSince), true),
                "until" | "U" => (Infix::Binary(BinOp::Until), true),
                "wuntil" => (Infix::Binary(BinOp::WUntil), true),
                "releases" => (Infix::Binary(BinOp::Releases), true),
                "and" => (Infix::List(ListOp::And), false),
                "or" => (Infix::List(ListOp::Or), false),
                "implies" => (Infix::Binary(BinOp::Implies), false),
                "iff" => (Infix::Binary(BinOp::Iff), false),
                _ => return None,
            },
            _ => return None,
        })
    }

    fn misspelled(&mut self, span: Span, right: &str) {
        let written = &self.text[span.range()];
        let message = match written {
            "=" => "`=` does not compare".to_owned(),
            _ => format!("`{written}` is not an operator of formulas"),
        };
        let diagnostic = Diagnostic::error("syntax", message).at(span, format!("write `{right}`"));
        self.complain(diagnostic);
    }

    /// The prefix operator here.
    fn prefix(&self) -> Option<UnOp> {
        Some(match self.tok() {
            Tok::Bang => UnOp::Not,
            Tok::Symbol(symbol) => match symbol {
                Symbol::Prev => UnOp::Prev,
                Symbol::Once => UnOp::Once,
                Symbol::Hist => UnOp::Hist,
                Symbol::Always => UnOp::Always,
                Symbol::Eventually => UnOp::Eventually,
                Symbol::Next => UnOp::Next,
                Symbol::Start => UnOp::Start,
                Symbol::End => UnOp::End,
            },
            Tok::Word => match self.word()? {
                "prev" => UnOp::Prev,
                "yesterday" => UnOp::Yesterday,
                "wyesterday" => UnOp::WYesterday,
                "once" => UnOp::Once,
                "hist" => UnOp::Hist,
                "always" => UnOp::Always,
                "eventually" => UnOp::Eventually,
                "next" => UnOp::Next,
                "wnext" => UnOp::WNext,
                word if PREFIX_ALIASES.contains(&word) && !self.declared.contains(word) && self.operand_follows() => {
                    match word {
                        "Y" => UnOp::Yesterday,
                        "Z" => UnOp::WYesterday,
                        "G" => UnOp::Always,
                        "F" => UnOp::Eventually,
                        _ => UnOp::Next,
                    }
                }
                _ => return None,
            },
            _ => return None,
        })
    }

    /// Whether the next token can only begin an operand. (`-` can also be an operator after a name.)
    fn operand_follows(&self) -> bool {
        match &self.ahead(1).tok {
            Tok::Word => !matches!(
                self.word_ahead(1),
                Some(
                    "S" | "U" | "since" | "wsince" | "until" | "wuntil" | "releases" | "and" | "or" | "implies" | "iff"
                )
            ),
            Tok::Quoted(_) | Tok::Int(_) | Tok::Real(_) | Tok::Str(_) => true,
            Tok::LParen | Tok::LBracket | Tok::Bang | Tok::At | Tok::Symbol(_) => true,
            _ => false,
        }
    }

    /// What an operator of a level can be applied to: prefix operators only where formulas can stand.
    fn operand(&mut self, lowest: u8) -> Parsed<Box<Expr>> {
        let start = self.span();
        if self.tok() == &Tok::Minus && lowest <= NEGATED {
            self.bump();
            let operand = self.climb(NEGATED)?;
            return self.unary_node(UnOp::Neg, start, operand);
        }
        let prefix = self.prefix();
        let quantifier = match self.word() {
            Some("exists") => Some(Quantifier::Exists),
            Some("forall") => Some(Quantifier::Forall),
            _ => None,
        };
        let not = self.at_word("not") && self.operand_follows();
        if lowest > UNARY && (prefix.is_some() || quantifier.is_some()) {
            return self.needs_parentheses();
        }
        if let Some(op) = prefix {
            self.bump();
            let operand = self.climb(UNARY)?;
            return self.unary_node(op, start, operand);
        }
        if let Some(quantifier) = quantifier {
            return self.quantified(quantifier);
        }
        if not {
            self.bump();
            self.misspelled(start, "!");
            return self.climb(UNARY);
        }
        self.atom()
    }

    fn unary_node(&mut self, op: UnOp, start: Span, operand: Box<Expr>) -> Parsed<Box<Expr>> {
        let span = start.to(operand.span);
        self.node(ExprKind::Unary(op, start, operand), span)
    }

    fn quantified(&mut self, quantifier: Quantifier) -> Parsed<Box<Expr>> {
        let start = self.bump();
        let name = self.name("the name of a thread")?;
        let domain = if self.eat(&Tok::Ne) {
            Domain::NotEqual(self.name("the name of a thread")?)
        } else if self.eat(&Tok::Colon) {
            let sort_start = self.span();
            let sort = self.sort()?;
            let span = sort_start.to(self.last_span());
            let filter = if self.eat_word("where") { Some(self.climb(0)?) } else { None };
            Domain::Sort(sort, span, filter)
        } else {
            let help = format!("for example `{} {} : thread . …`", quantifier.text(), name.text);
            return self.expected_with("`:` or `!=`", Some(help));
        };
        if self.tok() != &Tok::Dot {
            let help = "a `.` stands between the quantifier and what it is about".to_owned();
            return self.expected_with("`.`", Some(help));
        }
        self.bump();
        let body = self.climb(UNARY)?;
        let span = start.to(body.span);
        self.node(ExprKind::Quant(quantifier, start, name, domain, body), span)
    }

    fn atom(&mut self) -> Parsed<Box<Expr>> {
        let start = self.span();
        let kind = match self.tok().clone() {
            Tok::Int(value) => ExprKind::Int(value),
            Tok::Real(value) => ExprKind::Real(value),
            Tok::Str(value) => ExprKind::Str(value),
            Tok::LParen => {
                self.bump();
                let mut inner = self.climb(0)?;
                let end = self.close_parenthesis(start)?;
                inner.span = start.to(end);
                return Ok(inner);
            }
            Tok::LBracket => return self.interval(start, false),
            Tok::At => {
                self.bump();
                let thread = self.name("the name of a thread")?;
                let operand = self.climb(ATOM)?;
                let span = start.to(operand.span);
                return self.node(ExprKind::At(thread, operand), span);
            }
            Tok::Word => return self.word_atom(start),
            Tok::Quoted(_) if self.inline => return self.word_atom(start),
            Tok::Bang | Tok::Symbol(_) => return self.needs_parentheses(),
            _ => return self.expected("a formula"),
        };
        self.bump();
        Ok(Box::new(Expr::new(kind, start)))
    }

    fn needs_parentheses<T>(&mut self) -> Parsed<T> {
        let help = format!("put parentheses around {} and what it applies to", self.found());
        self.expected_with("a value", Some(help))
    }

    fn word_atom(&mut self, start: Span) -> Parsed<Box<Expr>> {
        let next = self.ahead(1).tok.clone();
        match self.word() {
            Some(word @ ("true" | "false")) => {
                self.bump();
                return Ok(Box::new(Expr::new(ExprKind::Bool(word == "true"), start)));
            }
            Some("weak") if next == Tok::LBracket => {
                self.bump();
                return self.interval(start, true);
            }
            Some(word @ ("start" | "end")) if next == Tok::LParen => {
                let op = if word == "start" { UnOp::Start } else { UnOp::End };
                self.bump();
                let open = self.bump();
                let operand = self.climb(0)?;
                let end = self.close_parenthesis(open)?;
                return self.node(ExprKind::Unary(op, start, operand), start.to(end));
            }
            Some("unknown") => {
                let help = "nothing compares with `unknown`; it can only be an initial value".to_owned();
                return self.expected_with("a formula", Some(help));
            }
            Some("exists" | "forall") => return self.needs_parentheses(),
            Some(_) if self.prefix().is_some() => return self.needs_parentheses(),
            _ => {}
        }
        let name = if self.inline && self.tok() == &Tok::Word { self.inline_name()? } else { self.name("a formula")? };
        match self.tok() {
            Tok::LBracket => {
                self.bump();
                let index = self.climb(0)?;
                let end = self.expect(&Tok::RBracket, "`]`")?;
                self.node(ExprKind::Index(name, index), start.to(end))
            }
            Tok::LParen => self.call(start, name),
            _ => Ok(Box::new(Expr::new(ExprKind::Name(name.text), name.span))),
        }
    }

    /// A name of a trace: `Demo.x`, `file.c:landing`.
    fn inline_name(&mut self) -> Parsed<Name> {
        if self.word().is_some_and(crate::syntax::token::is_reserved) {
            return self.name("a formula");
        }
        self.path("a formula")
    }

    /// The arguments of a call, from its `(`.
    pub(super) fn call(&mut self, start: Span, name: Name) -> Parsed<Box<Expr>> {
        self.bump();
        let mut arguments = Vec::new();
        if self.tok() != &Tok::RParen {
            arguments.push(*self.climb(0)?);
            while self.eat(&Tok::Comma) {
                arguments.push(*self.climb(0)?);
            }
        }
        let end = self.expect(&Tok::RParen, "`,` or `)`")?;
        self.node(ExprKind::Call(name, arguments), start.to(end))
    }

    fn interval(&mut self, start: Span, weak: bool) -> Parsed<Box<Expr>> {
        let open = self.bump();
        let from = self.climb(0)?;
        if self.tok() != &Tok::Comma {
            let help = "an interval is `[a, b)`: a has held, and b has not since".to_owned();
            return self.expected_with("`,`", Some(help));
        }
        self.bump();
        let to = self.climb(0)?;
        let end = self.span();
        if self.tok() == &Tok::RBracket {
            let diagnostic = Diagnostic::error("syntax", "an interval ends with `)`")
                .at(end, "write `)`")
                .at(open, "the interval begins here")
                .help("intervals are half open: at the step where the second formula holds, `[a, b)` is over");
            self.complain(diagnostic);
            self.bump();
        } else {
            self.expect(&Tok::RParen, "an operator or `)`")?;
        }
        self.node(ExprKind::Interval(weak, from, to), start.to(end))
    }
}
