//! What is printed parses back to the same tree: for the examples and for random trees.

use property::Otherwise;
use property::syntax::ast::*;
use property::syntax::{Diagnostics, Sources, Span, parse_file, print_file, render};

fn parsed(text: &str) -> File {
    let mut sources = Sources::default();
    let file = sources.add("printed.rvs", text);
    let mut out = Diagnostics::default();
    let tree = parse_file(&sources, file, &mut out);
    assert!(out.is_empty(), "{}\n{text}", render(&out.into_sorted(), &sources, false));
    tree
}

/// The tree as text, places left out: a span is shown as `<file:start-end>`.
fn without_spans(tree: &File) -> String {
    let mut out = String::new();
    for part in format!("{tree:?}").split('<') {
        match part.split_once('>') {
            Some((span, rest)) if span.bytes().all(|b| b.is_ascii_digit() || b == b':' || b == b'-') => {
                out.push_str(rest);
            }
            _ => out.push_str(part),
        }
    }
    out
}

#[test]
fn the_examples_print_back_to_themselves() {
    let examples = [
        include_str!("../../../corpus/specs/01-landing.rvs"),
        include_str!("../../../corpus/specs/02-interval.rvs"),
        include_str!("../../../corpus/specs/03-permit.rvs"),
        include_str!("../../../corpus/specs/04-becomes-positive.rvs"),
        include_str!("../../../corpus/specs/05-mutex.rvs"),
        include_str!("../../../corpus/specs/06-bank.rvs"),
        include_str!("../../../corpus/specs/07-lost-wakeup.rvs"),
        include_str!("../../../corpus/specs/08-response.rvs"),
    ];
    for text in examples {
        let first = parsed(text);
        let printed = print_file(&first);
        let second = parsed(&printed);
        assert_eq!(without_spans(&first), without_spans(&second), "{printed}");
        assert_eq!(print_file(&second), printed);
    }
}

#[test]
fn random_trees_print_back_to_themselves() {
    let mut g = Gen(7);
    for _ in 0..5_000 {
        let tree = g.file();
        let printed = print_file(&tree);
        assert_eq!(without_spans(&tree), without_spans(&parsed(&printed)), "{printed}");
    }
}

struct Gen(u64);

const NO: Span = Span { file: 0, start: 0, end: 0 };

impl Gen {
    fn below(&mut self, n: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (self.0 >> 33) % n
    }

    fn pick<T: Clone>(&mut self, list: &[T]) -> T {
        list[self.below(list.len() as u64) as usize].clone()
    }

    fn maybe<T>(&mut self, make: impl FnOnce(&mut Self) -> T) -> Option<T> {
        (self.below(2) == 0).then(|| make(self))
    }

    fn many<T>(&mut self, least: u64, most: u64, mut make: impl FnMut(&mut Self) -> T) -> Vec<T> {
        (0..least + self.below(most - least + 1)).map(|_| make(self)).collect()
    }

    fn name(&mut self) -> Name {
        let text = self.pick(&[
            "x", "y", "start", "end", "weak", "S", "U", "any_", "c", "int", "arg", "höhe", "a$1", "at", "with",
        ]);
        Name { text: text.to_owned(), span: NO }
    }

    fn text(&mut self) -> Text {
        let value = self.pick(&["", "a b", "\"quoted\" \\ \n\t\r", "é → \u{1}", "Main.java:12"]);
        Text { value: value.to_owned(), span: NO }
    }

    fn sort(&mut self) -> Sort {
        match self.below(5) {
            0 => Sort::Thread,
            1 => Sort::Lock,
            2 => Sort::Object(None),
            3 => Sort::Object(Some(self.pick(&["Event", "a.b.C$D", "k::T"]).to_owned())),
            _ => Sort::Value(self.pick(&Type::ALL)),
        }
    }

    fn param(&mut self) -> Param {
        Param { name: self.name(), sort: self.sort(), sort_span: NO }
    }

    fn params(&mut self) -> Params {
        let list = self.many(0, 3, Self::param);
        let filter = if list.is_empty() { None } else { self.maybe(|g| g.expr(2)) };
        Params { list, filter }
    }

    fn place(&mut self) -> Place {
        let path =
            self.pick(&["x", "Demo.x", "file.c:landing", "k::m::N", "Foo.<init>", "A#m", "Server.exit", "f.c:12"]);
        Place { lang: self.pick(&Lang::ALL), path: path.to_owned(), quoted: self.below(4) == 0, span: NO }
    }

    fn constant(&mut self) -> Const {
        let kind = match self.below(5) {
            0 => ConstKind::Int(self.pick(&[0, -1, 42, i64::MAX, i64::MIN])),
            1 => ConstKind::Real(self.pick(&[0.5, -2.0, 1e300, 1e-7, -0.0])),
            2 => ConstKind::Str(self.text().value),
            3 => ConstKind::Bool(self.below(2) == 0),
            _ => ConstKind::Unknown,
        };
        Const { kind, span: NO }
    }

    fn expr(&mut self, depth: u64) -> Expr {
        let kind = match if depth == 0 { self.below(5) } else { self.below(13) } {
            0 => ExprKind::Int(self.pick(&[0, 7, 1 << 63])),
            1 => ExprKind::Real(self.pick(&[0.5, 1e21, 1e-7])),
            2 => ExprKind::Str(self.text().value),
            3 => ExprKind::Bool(self.below(2) == 0),
            4 => ExprKind::Name(self.name().text),
            5 => ExprKind::Index(self.plain_name(), Box::new(self.expr(depth - 1))),
            6 => ExprKind::Call(self.plain_name(), self.many(0, 3, |g| g.expr(depth - 1))),
            7 => {
                use UnOp::*;
                let ops =
                    [Not, Neg, Prev, Yesterday, WYesterday, Once, Hist, Start, End, Always, Eventually, Next, WNext];
                ExprKind::Unary(self.pick(&ops), NO, Box::new(self.expr(depth - 1)))
            }
            8 | 9 => {
                use BinOp::*;
                let ops = [
                    Iff, Implies, Since, WSince, Until, WUntil, Releases, Eq, Ne, Le, Ge, Lt, Gt, Add, Sub, Mul, Div,
                    Rem,
                ];
                ExprKind::Binary(self.pick(&ops), NO, Box::new(self.expr(depth - 1)), Box::new(self.expr(depth - 1)))
            }
            10 => ExprKind::List(self.pick(&[ListOp::And, ListOp::Or]), self.many(2, 4, |g| g.expr(depth - 1))),
            11 => {
                let weak = self.below(2) == 0;
                ExprKind::Interval(weak, Box::new(self.expr(depth - 1)), Box::new(self.expr(depth - 1)))
            }
            _ => {
                let name = self.name();
                if self.below(2) == 0 {
                    ExprKind::At(name, Box::new(self.expr(depth - 1)))
                } else {
                    let domain = if self.below(2) == 0 {
                        Domain::NotEqual(self.name())
                    } else {
                        Domain::Sort(self.sort(), NO, self.maybe(|g| Box::new(g.expr(depth - 1))))
                    };
                    let quantifier = self.pick(&[Quantifier::Exists, Quantifier::Forall]);
                    ExprKind::Quant(quantifier, NO, name, domain, Box::new(self.expr(depth - 1)))
                }
            }
        };
        Expr::new(kind, NO)
    }

    /// A name that is no operator before `(` or `[`.
    fn plain_name(&mut self) -> Name {
        let text = self.pick(&["read", "v", "e1"]);
        Name { text: text.to_owned(), span: NO }
    }

    fn ere(&mut self, depth: u64) -> Ere {
        let kind = match if depth == 0 { self.below(4) } else { self.below(9) } {
            0 => EreKind::Any,
            1 => EreKind::Eps,
            2 => EreKind::State(Box::new(self.expr(2))),
            3 => {
                let name = self.plain_name();
                let kind = match self.below(2) {
                    0 => ExprKind::Name(name.text),
                    _ => ExprKind::Call(name, self.many(0, 2, |g| g.expr(1))),
                };
                EreKind::Event(Box::new(Expr::new(kind, NO)))
            }
            4 => EreKind::Cat(self.many(2, 4, |g| g.ere(depth - 1))),
            5 => EreKind::Or(self.many(2, 4, |g| g.ere(depth - 1))),
            6 => EreKind::And(self.many(2, 4, |g| g.ere(depth - 1))),
            7 => EreKind::Not(Box::new(self.ere(depth - 1))),
            _ => {
                let repeat = self.pick(&[Repeat::Star, Repeat::Plus, Repeat::Opt]);
                EreKind::Repeat(repeat, Box::new(self.ere(depth - 1)))
            }
        };
        Ere::new(kind, NO)
    }

    fn settings(&mut self) -> Vec<Setting> {
        self.many(0, 2, |g| {
            let value = match g.below(2) {
                0 => SettingValue::Const(g.constant()),
                _ => SettingValue::Word(Name { text: g.pick(&["weak_hb", "all", "weak"]).to_owned(), span: NO }),
            };
            Setting { name: g.name(), value }
        })
    }

    fn handler(&mut self) -> Handler {
        let actions = self.many(0, 3, |g| match g.below(5) {
            0 => Action::Report(g.maybe(Self::text)),
            1 => Action::Call(g.place()),
            2 => Action::Exec(g.text()),
            3 => Action::Exit(g.below(300), NO),
            _ => Action::Stop,
        });
        Handler { outcome: self.pick(&Outcome::ALL), actions, span: NO }
    }

    fn body(&mut self) -> Body {
        match self.below(6) {
            0 => Body::Past(self.expr(4)),
            1 => Body::Future(self.expr(4)),
            2 => Body::Mttl(self.name(), self.expr(4)),
            3 => {
                let mode = self.pick(&[EreMode::Never, EreMode::NeverFromStart, EreMode::Follows]);
                Body::Ere(mode, self.ere(4))
            }
            4 => Body::Logic(self.text(), self.many(0, 3, Self::text)),
            _ => {
                let otherwise = self.maybe(|g| g.pick(&[Otherwise::Stay, Otherwise::Die, Otherwise::Bad]));
                let states = self.many(1, 3, |g| {
                    let transitions = g.many(0, 2, |g| {
                        let guard = g.maybe(|g| g.expr(2));
                        Transition { guard, span: NO, targets: g.many(1, 2, Self::name) }
                    });
                    State { name: g.name(), transitions }
                });
                Body::Fsm(Fsm { init: self.name(), bad: self.name(), otherwise, states })
            }
        }
    }

    fn decl(&mut self) -> Decl {
        match self.below(12) {
            0 => Decl::Target(self.pick(&Lang::ALL), NO),
            1 => {
                let (ty, name) = (self.pick(&Type::ALL), self.name());
                let (index, init) = (self.maybe(Self::param), self.maybe(Self::constant));
                Decl::Shared(Variable { ty, name, index, init, place: Some(self.place()) })
            }
            2 => {
                let (ty, name, init) = (self.pick(&Type::ALL), self.name(), self.maybe(Self::constant));
                Decl::Local(Variable { ty, name, index: None, init, place: self.maybe(Self::place) })
            }
            3 => Decl::Lock(Lock { name: self.name(), index: self.maybe(Self::param), place: self.place() }),
            4 => Decl::Region(Region { name: self.name(), place: self.place() }),
            5 => Decl::Event(Event {
                name: self.name(),
                params: self.params(),
                place: self.place(),
                when: self.maybe(|g| g.pick(&[When::Before, When::After])),
                side: self.maybe(|g| g.pick(&[Side::Call, Side::Exec])),
                origins: self.many(0, 3, |g| (g.pick(&[Origin::This, Origin::Result, Origin::Arg(2)]), NO)),
            }),
            6 => {
                let is_event = self.below(2) == 0;
                Decl::Let(Let { is_event, name: self.name(), params: self.params(), body: self.expr(4) })
            }
            7 => Decl::Check(Check {
                what: match self.below(5) {
                    0 => What::Races(self.many(0, 2, Self::name), self.maybe(Self::name)),
                    1 => What::Deadlocks(self.maybe(|g| (g.below(9), NO))),
                    2 => What::Atomicity(self.many(1, 2, Self::name)),
                    3 => What::Mutex(self.many(1, 2, Self::name)),
                    _ => What::LostWakeup(self.many(0, 2, Self::name)),
                },
                settings: self.settings(),
                span: NO,
            }),
            8 => Decl::Explore(self.settings()),
            9 => {
                let (name, at, because) = (self.name(), self.text(), self.maybe(Self::text));
                Decl::Suppress(Suppress { name, at, because })
            }
            _ => Decl::Property(Box::new(Property {
                name: self.name(),
                params: self.params(),
                body: self.body(),
                settings: self.settings(),
                handlers: self.many(0, 2, Self::handler),
                span: NO,
            })),
        }
    }

    fn file(&mut self) -> File {
        let items = self.many(1, 2, |g| match g.below(4) {
            0 => Item::Import(g.text()),
            _ => Item::Spec(Spec { name: g.name(), decls: g.many(0, 4, Self::decl), span: NO }),
        });
        File { items }
    }
}
