//! Canonical printing: what is printed parses back to the same tree.

mod expr;

pub use expr::{print_ere, print_expr};

use super::ast::{
    Action, Body, Check, ConstKind, Decl, Event, File, Fsm, Handler, Item, Origin, Param, Params, Place, Property,
    Setting, SettingValue, Side, Sort, Variable, What, When,
};
use crate::Otherwise;
use std::fmt::Write as _;

/// A file as text.
pub fn print_file(file: &File) -> String {
    let mut p = Printer::default();
    for item in &file.items {
        match item {
            Item::Import(path) => p.line(&format!("import {};", quote(&path.value))),
            Item::Spec(spec) => {
                p.line(&format!("spec {} {{", spec.name.text));
                p.indent += 1;
                for decl in &spec.decls {
                    p.decl(decl);
                }
                p.indent -= 1;
                p.line("}");
            }
        }
    }
    p.out
}

pub(crate) fn quote(text: &str) -> String {
    let mut out = String::from("\"");
    for c in text.chars() {
        match c {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\t' => out.push_str("\\t"),
            '\r' => out.push_str("\\r"),
            c if c.is_control() => {
                let _ = write!(out, "\\u{{{:x}}}", c as u32);
            }
            c => out.push(c),
        }
    }
    out.push('"');
    out
}

/// A sort as it is written.
pub fn sort_text(sort: &Sort) -> String {
    match sort {
        Sort::Thread => "thread".to_owned(),
        Sort::Lock => "lock".to_owned(),
        Sort::Object(None) => "object".to_owned(),
        Sort::Object(Some(class)) => format!("object<{class}>"),
        Sort::Value(ty) => ty.text().to_owned(),
    }
}

fn constant(kind: &ConstKind) -> String {
    match kind {
        ConstKind::Int(value) => value.to_string(),
        ConstKind::Real(value) => format!("{value:?}"),
        ConstKind::Str(value) => quote(value),
        ConstKind::Bool(value) => value.to_string(),
        ConstKind::Unknown => "unknown".to_owned(),
    }
}

fn place(place: &Place) -> String {
    let path = if place.quoted { quote(&place.path) } else { place.path.clone() };
    format!("{} {path}", place.lang.text())
}

fn param(param: &Param) -> String {
    format!("{} : {}", param.name.text, sort_text(&param.sort))
}

fn params(params: &Params) -> String {
    if params.list.is_empty() {
        return String::new();
    }
    let list: Vec<String> = params.list.iter().map(param).collect();
    let filter = params.filter.as_ref().map(|f| format!(" where {}", print_expr(f))).unwrap_or_default();
    format!("({}{filter})", list.join(", "))
}

fn index(index: Option<&Param>) -> String {
    index.map(|p| format!("[{}]", param(p))).unwrap_or_default()
}

fn names(list: &[super::ast::Name]) -> String {
    list.iter().map(|n| n.text.as_str()).collect::<Vec<_>>().join(", ")
}

#[derive(Default)]
struct Printer {
    out: String,
    indent: usize,
}

impl Printer {
    fn line(&mut self, text: &str) {
        for _ in 0..self.indent {
            self.out.push_str("  ");
        }
        self.out.push_str(text);
        self.out.push('\n');
    }

    fn block(&mut self, head: &str, tail: &str, body: impl FnOnce(&mut Self)) {
        self.line(&format!("{head} {{"));
        self.indent += 1;
        body(self);
        self.indent -= 1;
        self.line(&format!("}}{tail}"));
    }

    fn decl(&mut self, decl: &Decl) {
        match decl {
            Decl::Target(lang, _) => self.line(&format!("target {};", lang.text())),
            Decl::Shared(v) => self.variable("shared", v),
            Decl::Local(v) => self.variable("local", v),
            Decl::Lock(l) => {
                self.line(&format!("lock {}{} at {};", l.name.text, index(l.index.as_ref()), place(&l.place)));
            }
            Decl::Region(r) => self.line(&format!("region {} at {};", r.name.text, place(&r.place))),
            Decl::Event(e) => self.event(e),
            Decl::Let(l) => {
                let word = if l.is_event { "event" } else { "let" };
                self.line(&format!("{word} {}{} = {};", l.name.text, params(&l.params), print_expr(&l.body)));
            }
            Decl::Property(p) => self.property(p),
            Decl::Check(c) => self.check(c),
            Decl::Explore(settings) => self.block("explore", "", |p| p.settings(settings)),
            Decl::Handler(h) => self.handler(h),
            Decl::Suppress(s) => {
                let because = s.because.as_ref().map(|b| format!(" because {}", quote(&b.value))).unwrap_or_default();
                self.line(&format!("suppress {} at {}{because};", s.name.text, quote(&s.at.value)));
            }
            Decl::Broken(_) => {}
        }
    }

    fn variable(&mut self, word: &str, v: &Variable) {
        let init = v.init.as_ref().map(|c| format!(" = {}", constant(&c.kind))).unwrap_or_default();
        let at = v.place.as_ref().map(|p| format!(" at {}", place(p))).unwrap_or_default();
        self.line(&format!("{word} {} {}{}{init}{at};", v.ty.text(), v.name.text, index(v.index.as_ref())));
    }

    fn event(&mut self, e: &Event) {
        let mut line = format!("event {}{} at {}", e.name.text, params(&e.params), place(&e.place));
        match e.when {
            Some(When::Before) => line.push_str(" before"),
            Some(When::After) => line.push_str(" after"),
            None => {}
        }
        match e.side {
            Some(Side::Call) => line.push_str(" call"),
            Some(Side::Exec) => line.push_str(" exec"),
            None => {}
        }
        if !e.origins.is_empty() {
            let origins: Vec<String> = e
                .origins
                .iter()
                .map(|(origin, _)| match origin {
                    Origin::This => "this".to_owned(),
                    Origin::Result => "result".to_owned(),
                    Origin::Arg(n) => format!("arg {n}"),
                })
                .collect();
            let _ = write!(line, " ({})", origins.join(", "));
        }
        self.line(&format!("{line};"));
    }

    fn settings(&mut self, settings: &[Setting]) {
        for setting in settings {
            let value = match &setting.value {
                SettingValue::Const(c) => constant(&c.kind),
                SettingValue::Word(w) => w.text.clone(),
            };
            self.line(&format!("{} = {value};", setting.name.text));
        }
    }

    fn handler(&mut self, handler: &Handler) {
        self.block(&format!("on {}", handler.outcome.text()), "", |p| {
            for action in &handler.actions {
                let text = match action {
                    Action::Report(None) => "report".to_owned(),
                    Action::Report(Some(text)) => format!("report {}", quote(&text.value)),
                    Action::Call(at) => format!("call {}", place(at)),
                    Action::Exec(text) => format!("exec {}", quote(&text.value)),
                    Action::Exit(code, _) => format!("exit {code}"),
                    Action::Stop => "stop".to_owned(),
                };
                p.line(&format!("{text};"));
            }
        });
    }

    fn check(&mut self, check: &Check) {
        let on = |list: &[super::ast::Name]| {
            if list.is_empty() { String::new() } else { format!(" on {}", names(list)) }
        };
        let what = match &check.what {
            What::Races(list, using) => {
                let using = using.as_ref().map(|u| format!(" using {}", u.text)).unwrap_or_default();
                format!("races{}{using}", on(list))
            }
            What::Deadlocks(None) => "deadlocks".to_owned(),
            What::Deadlocks(Some((n, _))) => format!("deadlocks upto {n} threads"),
            What::Atomicity(list) => format!("atomicity of {}", names(list)),
            What::Mutex(list) => format!("mutex of {}", names(list)),
            What::LostWakeup(list) => format!("lost_wakeup{}", on(list)),
        };
        if check.settings.is_empty() {
            self.line(&format!("check {what};"));
        } else {
            self.block(&format!("check {what} with"), ";", |p| p.settings(&check.settings));
        }
    }

    fn property(&mut self, property: &Property) {
        let (head, text) = match &property.body {
            Body::Past(f) => ("past".to_owned(), print_expr(f)),
            Body::Future(f) => ("future".to_owned(), print_expr(f)),
            Body::Mttl(thread, f) => (format!("mttl at {}", thread.text), print_expr(f)),
            Body::Ere(mode, e) => (format!("ere {}", mode.text()), print_ere(e)),
            Body::Fsm(_) => ("fsm".to_owned(), String::new()),
            Body::Logic(which, _) => (format!("logic {}", quote(&which.value)), String::new()),
            Body::Broken => return,
        };
        let tail = if property.settings.is_empty() { "" } else { " with {" };
        let head = format!("property {}{} {head}", property.name.text, params(&property.params));
        self.block(&head, tail, |p| match &property.body {
            Body::Fsm(fsm) => p.fsm(fsm),
            Body::Logic(_, lines) => lines.iter().for_each(|line| p.line(&quote(&line.value))),
            _ => p.line(&text),
        });
        if !property.settings.is_empty() {
            self.indent += 1;
            self.settings(&property.settings);
            self.indent -= 1;
            self.line("}");
        }
        for handler in &property.handlers {
            self.handler(handler);
        }
    }

    fn fsm(&mut self, fsm: &Fsm) {
        self.line(&format!("init {};", fsm.init.text));
        self.line(&format!("bad {};", fsm.bad.text));
        match fsm.otherwise {
            Some(Otherwise::Stay) => self.line("otherwise stay;"),
            Some(Otherwise::Die) => self.line("otherwise die;"),
            Some(Otherwise::Bad) => self.line("otherwise bad;"),
            None => {}
        }
        for state in &fsm.states {
            self.block(&state.name.text, "", |p| {
                for t in &state.transitions {
                    let guard = t.guard.as_ref().map_or("else".to_owned(), print_expr);
                    p.line(&format!("{guard} => {};", names(&t.targets)));
                }
            });
        }
    }
}
