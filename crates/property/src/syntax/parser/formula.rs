//! Formulas and values: precedence climbing over the operators of the grammar.

use super::{MAX_DEPTH, Parsed, Parser};
use crate::syntax::ast::{BinOp, Domain, Expr, ExprKind, ListOp, Name, Quantifier, UnOp};
use crate::syntax::token::{PREFIX_ALIASES, Symbol, Tok};
use crate::syntax::{Diagnostic, Span};

/// An infix operator of formulas.
#[derive(Clone, Copy, PartialEq)]
enum Infix {
    List(ListOp),
    Binary(BinOp),
}

impl Infix {
    fn level(self) -> u8 {
        match self {
            Infix::Binary(BinOp::Iff) => 0,
            Infix::Binary(BinOp::Implies) => 1,
            Infix::List(ListOp::Or) => 2,
            Infix::List(ListOp::And) => 3,
            Infix::Binary(_) => 4,
        }
    }

    /// The lowest level of its right operand.
    fn right_level(self) -> u8 {
        match self {
            Infix::Binary(BinOp::Iff) | Infix::List(_) => self.level() + 1,
            Infix::Binary(_) => self.level(),
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
        self.climb(0)
    }

    /// A node, unless it is too high.
    fn node(&mut self, kind: ExprKind, span: Span) -> Parsed<Expr> {
        let expr = Expr::new(kind, span);
        if expr.height() > MAX_DEPTH { self.too_deep(span) } else { Ok(expr) }
    }

    fn climb(&mut self, lowest: u8) -> Parsed<Expr> {
        self.nested(|p| {
            let mut left = p.unary()?;
            // The list operator whose operands are being collected in `left`.
            let mut open = None;
            while let Some((op, known)) = p.infix().filter(|(op, _)| op.level() >= lowest) {
                let op_span = p.bump();
                if !known {
                    p.misspelled(op_span, op.text());
                }
                let right = p.climb(op.right_level())?;
                let span = left.span.to(right.span);
                let kind = match op {
                    Infix::Binary(op) => {
                        open = None;
                        ExprKind::Binary(op, op_span, Box::new(left), Box::new(right))
                    }
                    Infix::List(op) => match left.kind {
                        ExprKind::List(_, mut list) if open == Some(op) => {
                            list.push(right);
                            ExprKind::List(op, list)
                        }
                        _ => {
                            open = Some(op);
                            ExprKind::List(op, vec![left, right])
                        }
                    },
                };
                left = p.node(kind, span)?;
            }
            Ok(left)
        })
    }

    /// The infix operator here, and whether it is spelled right.
    fn infix(&self) -> Option<(Infix, bool)> {
        Some(match self.tok() {
            Tok::IffArrow => (Infix::Binary(BinOp::Iff), true),
            Tok::Arrow => (Infix::Binary(BinOp::Implies), true),
            Tok::OrOr => (Infix::List(ListOp::Or), true),
            Tok::AndAnd => (Infix::List(ListOp::And), true),
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
        let diagnostic = Diagnostic::error("syntax", format!("`{written}` is not an operator of formulas"))
            .at(span, format!("write `{right}`"));
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

    fn unary(&mut self) -> Parsed<Expr> {
        if let Some(op) = self.prefix() {
            return self.nested(|p| {
                let start = p.bump();
                let operand = p.unary()?;
                let span = start.to(operand.span);
                p.node(ExprKind::Unary(op, start, Box::new(operand)), span)
            });
        }
        match self.word() {
            Some("exists") => self.quantified(Quantifier::Exists),
            Some("forall") => self.quantified(Quantifier::Forall),
            Some("not") if self.operand_follows() => {
                let span = self.bump();
                self.misspelled(span, "!");
                self.nested(Self::unary)
            }
            _ => self.comparison(),
        }
    }

    fn quantified(&mut self, quantifier: Quantifier) -> Parsed<Expr> {
        self.nested(|p| {
            let start = p.bump();
            let name = p.name("the name of a thread")?;
            let domain = if p.eat(&Tok::Ne) {
                Domain::NotEqual(p.name("the name of a thread")?)
            } else if p.eat(&Tok::Colon) {
                let sort_start = p.span();
                let sort = p.sort()?;
                let span = sort_start.to(p.last_span());
                let filter = if p.eat_word("where") { Some(Box::new(p.formula()?)) } else { None };
                Domain::Sort(sort, span, filter)
            } else {
                let help = format!("for example `{} {} : thread . …`", quantifier.text(), name.text);
                return p.expected_with("`:` or `!=`", Some(help));
            };
            if p.tok() != &Tok::Dot {
                let help = "a `.` stands between the quantifier and what it is about".to_owned();
                return p.expected_with("`.`", Some(help));
            }
            p.bump();
            let body = p.unary()?;
            let span = start.to(body.span);
            p.node(ExprKind::Quant(quantifier, start, name, domain, Box::new(body)), span)
        })
    }

    fn comparison_operator(&self) -> Option<BinOp> {
        Some(match self.tok() {
            Tok::EqEq | Tok::Eq => BinOp::Eq,
            Tok::Ne => BinOp::Ne,
            Tok::Le => BinOp::Le,
            Tok::Ge => BinOp::Ge,
            Tok::Lt => BinOp::Lt,
            Tok::Gt => BinOp::Gt,
            _ => return None,
        })
    }

    fn comparison(&mut self) -> Parsed<Expr> {
        let left = self.sum()?;
        let Some(op) = self.comparison_operator() else { return Ok(left) };
        let single = self.tok() == &Tok::Eq;
        let op_span = self.bump();
        if single {
            let diagnostic = Diagnostic::error("syntax", "`=` does not compare").at(op_span, "write `==`");
            self.complain(diagnostic);
        }
        let right = self.sum()?;
        let span = left.span.to(right.span);
        let expr = self.node(ExprKind::Binary(op, op_span, Box::new(left), Box::new(right)), span)?;
        if self.comparison_operator().is_some() {
            let diagnostic = Diagnostic::error("syntax", "comparisons cannot be chained")
                .at(self.span(), "a second comparison")
                .at(op_span, "the first one")
                .help("write `a < b && b < c`");
            self.complain(diagnostic);
            return Err(super::Failed);
        }
        Ok(expr)
    }

    fn sum(&mut self) -> Parsed<Expr> {
        let mut left = self.product()?;
        loop {
            let op = match self.tok() {
                Tok::Plus => BinOp::Add,
                Tok::Minus => BinOp::Sub,
                _ => return Ok(left),
            };
            let op_span = self.bump();
            let right = self.product()?;
            let span = left.span.to(right.span);
            left = self.node(ExprKind::Binary(op, op_span, Box::new(left), Box::new(right)), span)?;
        }
    }

    fn product(&mut self) -> Parsed<Expr> {
        let mut left = self.negated()?;
        loop {
            let op = match self.tok() {
                Tok::Star => BinOp::Mul,
                Tok::Slash => BinOp::Div,
                Tok::Percent => BinOp::Rem,
                _ => return Ok(left),
            };
            let op_span = self.bump();
            let right = self.negated()?;
            let span = left.span.to(right.span);
            left = self.node(ExprKind::Binary(op, op_span, Box::new(left), Box::new(right)), span)?;
        }
    }

    fn negated(&mut self) -> Parsed<Expr> {
        if self.tok() != &Tok::Minus {
            return self.atom();
        }
        self.nested(|p| {
            let start = p.bump();
            let operand = p.negated()?;
            let span = start.to(operand.span);
            p.node(ExprKind::Unary(UnOp::Neg, start, Box::new(operand)), span)
        })
    }

    fn atom(&mut self) -> Parsed<Expr> {
        let start = self.span();
        let kind = match self.tok().clone() {
            Tok::Int(value) => ExprKind::Int(value),
            Tok::Real(value) => ExprKind::Real(value),
            Tok::Str(value) => ExprKind::Str(value),
            Tok::LParen => {
                self.bump();
                let mut inner = self.formula()?;
                let end = self.close_parenthesis(start)?;
                inner.span = start.to(end);
                return Ok(inner);
            }
            Tok::LBracket => return self.interval(start, false),
            Tok::At => {
                return self.nested(|p| {
                    p.bump();
                    let thread = p.name("the name of a thread")?;
                    let operand = p.atom()?;
                    let span = start.to(operand.span);
                    p.node(ExprKind::At(thread, Box::new(operand)), span)
                });
            }
            Tok::Word => return self.word_atom(start),
            Tok::Quoted(_) if self.bare => return self.word_atom(start),
            Tok::Bang | Tok::Symbol(_) => return self.needs_parentheses(),
            _ => return self.expected("a formula"),
        };
        self.bump();
        Ok(Expr::new(kind, start))
    }

    fn needs_parentheses<T>(&mut self) -> Parsed<T> {
        let help = format!("put parentheses around {} and what it applies to", self.found());
        self.expected_with("a value", Some(help))
    }

    fn word_atom(&mut self, start: Span) -> Parsed<Expr> {
        let next = self.ahead(1).tok.clone();
        match self.word() {
            Some(word @ ("true" | "false")) => {
                self.bump();
                return Ok(Expr::new(ExprKind::Bool(word == "true"), start));
            }
            Some("weak") if next == Tok::LBracket => {
                self.bump();
                return self.interval(start, true);
            }
            Some(word @ ("start" | "end")) if next == Tok::LParen => {
                let op = if word == "start" { UnOp::Start } else { UnOp::End };
                self.bump();
                let open = self.bump();
                let operand = self.formula()?;
                let end = self.close_parenthesis(open)?;
                return self.node(ExprKind::Unary(op, start, Box::new(operand)), start.to(end));
            }
            Some("unknown") => {
                let help = "nothing compares with `unknown`; it can only be an initial value".to_owned();
                return self.expected_with("a formula", Some(help));
            }
            Some("exists" | "forall") => return self.needs_parentheses(),
            Some(_) if self.prefix().is_some() => return self.needs_parentheses(),
            _ => {}
        }
        let name = if self.bare && self.tok() == &Tok::Word { self.bare_name()? } else { self.name("a formula")? };
        match self.tok() {
            Tok::LBracket => self.nested(|p| {
                p.bump();
                let index = p.formula()?;
                let end = p.expect(&Tok::RBracket, "`]`")?;
                p.node(ExprKind::Index(name, Box::new(index)), start.to(end))
            }),
            Tok::LParen => self.call(start, name),
            _ => Ok(Expr::new(ExprKind::Name(name.text), name.span)),
        }
    }

    /// A name of a trace: `Demo.x`, `file.c:landing`.
    fn bare_name(&mut self) -> Parsed<Name> {
        if self.word().is_some_and(crate::syntax::token::is_reserved) {
            return self.name("a formula");
        }
        self.path("a formula")
    }

    /// The arguments of a call, from its `(`.
    pub(super) fn call(&mut self, start: Span, name: Name) -> Parsed<Expr> {
        self.nested(|p| {
            p.bump();
            let mut arguments = Vec::new();
            if p.tok() != &Tok::RParen {
                arguments.push(p.formula()?);
                while p.eat(&Tok::Comma) {
                    arguments.push(p.formula()?);
                }
            }
            let end = p.expect(&Tok::RParen, "`,` or `)`")?;
            p.node(ExprKind::Call(name, arguments), start.to(end))
        })
    }

    fn interval(&mut self, start: Span, weak: bool) -> Parsed<Expr> {
        let open = self.bump();
        let from = self.formula()?;
        if self.tok() != &Tok::Comma {
            let help = "an interval is `[a, b)`: a has held, and b has not since".to_owned();
            return self.expected_with("`,`", Some(help));
        }
        self.bump();
        let to = self.formula()?;
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
        self.node(ExprKind::Interval(weak, Box::new(from), Box::new(to)), start.to(end))
    }
}
