//! Effects: what a row of a table says that a call does to the order of events. `concurrent.table` explains the
//! notation.

/// The kinds of effects, as tables spell them, with their numbers in `Effect.java`. (26 is free.)
pub const EFFECT_KINDS: [(&str, u8); 45] = [
    ("acq", 1),
    ("rel", 2),
    ("tacq", 3),
    ("racq", 4),
    ("rrel", 5),
    ("rtacq", 6),
    ("unlock", 7),
    ("toread", 8),
    ("towrite", 9),
    ("tooptimistic", 10),
    ("wait", 11),
    ("woken", 12),
    ("notify", 13),
    ("notifyall", 14),
    ("post", 15),
    ("await", 16),
    ("up", 17),
    ("down", 18),
    ("join", 19),
    ("load", 20),
    ("store", 21),
    ("rmw", 22),
    ("fence", 23),
    ("view", 24),
    ("field", 25),
    ("permits", 27),
    ("condition", 28),
    ("read", 29),
    ("write", 30),
    ("look", 31),
    ("unseen", 32),
    ("request", 33),
    ("optimistic", 34),
    ("validated", 35),
    ("part", 36),
    ("current", 37),
    ("ended", 38),
    ("change", 39),
    ("blocks", 40),
    ("passes", 41),
    ("exits", 42),
    ("outside", 43),
    ("task", 44),
    ("elementreads", 45),
    ("firstread", 46),
];
/// The memory orders that may follow some kinds.
pub const ORDERS: [&str; 5] = ["relaxed", "acquire", "release", "acqrel", "seqcst"];

/// One effect of a call.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Effect {
    /// One of [`EFFECT_KINDS`], without its number.
    pub kind: &'static str,
    /// One of [`ORDERS`].
    pub order: &'static str,
    /// The object that it is an effect on.
    pub target: Target,
    /// The value that an atomic access loads or stores.
    pub value: Option<Value>,
    /// When the call has the effect.
    pub condition: Condition,
    /// The call has it also when it throws.
    pub is_thrown: bool,
}

/// The object that an effect is on.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Target {
    /// The object that is called or whose field it is. A static method has none.
    Receiver,
    /// `@`: another object. If it is an int: the receiver's element with that index. If the receiver stands for a
    /// field (kind `field`): that field of the object.
    Object(Operand),
    /// `@*`: of a `VarHandle`, the variable that the first arguments name.
    Variable,
    /// `@.`: the current thread.
    Thread,
    /// `^`: inside the JDK, the object whose method it is.
    This,
    /// `$`: inside the JDK, the value of the field of that name, of the object whose method it is; with `*` after it,
    /// each element of that collection.
    Field(&'static str, bool),
    /// `@…*`: inside the JDK, each element of a collection.
    Each(Operand),
    /// `@!`: an object that the whole process shares.
    All,
    /// `@<`: the back of a bounded queue, to which takers post and which putters await if the queue is nearly full.
    /// An unbounded queue has none.
    Back,
    /// `#`: the receiver's entry for a key. Equal keys have one entry.
    Key(Operand),
    /// `#…*`: the receiver's entries for each key of a map, or element of a collection.
    Keys(Operand),
    /// `%`: the receiver's entry for an element, by its identity.
    Element(Operand),
    /// `%…*`: the receiver's entries for each element of a collection.
    Elements(Operand),
}

/// An object of a call.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Operand {
    /// An argument; the first is 1.
    Argument(u8),
    /// The result.
    Result,
}

/// The value of an atomic access.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Value {
    /// `=@N`: the value of an argument.
    Argument(u8),
    /// `=@-`: the value of the last argument.
    Last,
    /// `=@=`: the result.
    Result,
    /// `=@=+1`: the result and so much more.
    ResultPlus(i8),
    /// `=@=+@N`: the result and an argument.
    ResultPlusArgument(u8),
}

/// When a call has an effect.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Condition {
    /// Always.
    Always,
    /// `?`: if the result is true, not 0, not null. An `rmw` whose condition does not hold is a `load`.
    True,
    /// `?!`: if the result is false, 0 or null.
    False,
    /// `?<`: if the result is negative.
    Negative,
}

impl Target {
    /// The argument that it names.
    pub(super) fn argument(self) -> Option<u8> {
        match self {
            Target::Object(which)
            | Target::Each(which)
            | Target::Key(which)
            | Target::Keys(which)
            | Target::Element(which)
            | Target::Elements(which) => match which {
                Operand::Argument(number) => Some(number),
                Operand::Result => None,
            },
            Target::Receiver
            | Target::Variable
            | Target::Thread
            | Target::This
            | Target::Field(..)
            | Target::All
            | Target::Back => None,
        }
    }
}

impl Effect {
    /// The argument that its value names.
    pub(super) fn value_argument(&self) -> Option<u8> {
        match self.value {
            Some(Value::Argument(number) | Value::ResultPlusArgument(number)) => Some(number),
            _ => None,
        }
    }

    /// Whether an object becomes a view of another.
    pub(super) fn is_view(&self) -> bool {
        matches!(self.kind, "view" | "part")
    }

    /// The effects of a column; `None` if it is malformed.
    pub(super) fn column(text: &'static str) -> Option<Vec<Effect>> {
        if text == "-" {
            return Some(Vec::new());
        }
        // A `+` before a kind separates effects; others are part of values.
        let is_new = |at: usize| text[at + 1..].starts_with(|next: char| next.is_ascii_lowercase());
        let mut all = Vec::new();
        let mut begin = 0;
        for (at, _) in text.match_indices('+').filter(|&(at, _)| is_new(at)).chain([(text.len(), "")]) {
            all.push(Effect::one(&text[begin..at])?);
            begin = at + 1;
        }
        Some(all)
    }

    fn one(text: &'static str) -> Option<Effect> {
        let (text, is_thrown) = text.strip_suffix("&!").map_or((text, false), |text| (text, true));
        let conditions = [("?!", Condition::False), ("?<", Condition::Negative), ("?", Condition::True)];
        let condition =
            conditions.iter().find_map(|&(suffix, condition)| Some((text.strip_suffix(suffix)?, condition)));
        let (text, condition) = condition.unwrap_or((text, Condition::Always));
        let end = text.find(|letter: char| !letter.is_ascii_lowercase()).unwrap_or(text.len());
        let (kind, text) = text.split_at(end);
        let (order, text) = match text.strip_prefix(':') {
            None => ("seqcst", text),
            Some(text) => text.split_at(text.find(['@', '#', '%', '=']).unwrap_or(text.len())),
        };
        let (target, text) = target(text)?;
        let value = match text {
            "" => None,
            "=@-" => Some(Value::Last),
            "=@=" => Some(Value::Result),
            _ => Some(match text.strip_prefix("=@=") {
                None => Value::Argument(text.strip_prefix("=@")?.parse().ok()?),
                Some(more) => match more.strip_prefix("+@") {
                    Some(number) => Value::ResultPlusArgument(number.parse().ok()?),
                    None => Value::ResultPlus(more.parse().ok()?),
                },
            }),
        };
        let is_known = EFFECT_KINDS.iter().any(|&(word, _)| word == kind) && ORDERS.contains(&order);
        is_known.then_some(Effect { kind, order, target, value, condition, is_thrown })
    }
}

/// Reads a target. Also what follows it.
fn target(text: &'static str) -> Option<(Target, &'static str)> {
    let Some(rest) = text.strip_prefix(['@', '#', '%', '^', '$']) else { return Some((Target::Receiver, text)) };
    match (text.as_bytes()[0], rest.as_bytes().first()) {
        (b'^', _) => return Some((Target::This, rest)),
        (b'$', _) => {
            let (name, rest) = rest.split_at(rest.find(|c: char| !c.is_ascii_alphanumeric()).unwrap_or(rest.len()));
            let (rest, is_each) = rest.strip_prefix('*').map_or((rest, false), |rest| (rest, true));
            return (!name.is_empty()).then_some((Target::Field(name, is_each), rest));
        }
        (b'@', Some(b'*')) => return Some((Target::Variable, &rest[1..])),
        (b'@', Some(b'.')) => return Some((Target::Thread, &rest[1..])),
        (b'@', Some(b'!')) => return Some((Target::All, &rest[1..])),
        (b'@', Some(b'<')) => return Some((Target::Back, &rest[1..])),
        _ => {}
    }
    let which = match rest.as_bytes().first()? {
        b'=' => Operand::Result,
        digit => Operand::Argument(digit.checked_sub(b'0').filter(|digit| (1..=9).contains(digit))?),
    };
    let rest = &rest[1..];
    let (rest, is_each) = rest.strip_prefix('*').map_or((rest, false), |rest| (rest, true));
    let target = match (text.as_bytes()[0], is_each) {
        (b'@', false) => Target::Object(which),
        (b'@', true) => Target::Each(which),
        (b'#', false) => Target::Key(which),
        (b'#', true) => Target::Keys(which),
        (b'%', false) => Target::Element(which),
        (b'%', true) => Target::Elements(which),
        _ => return None,
    };
    Some((target, rest))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_are_read() {
        let plain = Effect {
            kind: "acq",
            order: "seqcst",
            target: Target::Receiver,
            value: None,
            condition: Condition::Always,
            is_thrown: false,
        };
        let is = |text, effect: &[Effect]| assert_eq!(Effect::column(text).as_deref(), Some(effect), "{text}");
        is("-", &[]);
        is("acq", &[plain]);
        is("woken&!", &[Effect { kind: "woken", is_thrown: true, ..plain }]);
        is("join?!", &[Effect { kind: "join", condition: Condition::False, ..plain }]);
        let load = Effect { kind: "load", order: "acquire", ..plain };
        is(
            "load:acquire@1=@=",
            &[Effect { target: Target::Object(Operand::Argument(1)), value: Some(Value::Result), ..load }],
        );
        let rmw = Effect { kind: "rmw", ..plain };
        is("rmw=@=+@1", &[Effect { value: Some(Value::ResultPlusArgument(1)), ..rmw }]);
        is("rmw=@=-1?", &[Effect { value: Some(Value::ResultPlus(-1)), condition: Condition::True, ..rmw }]);
        is("rmw@*=@-", &[Effect { target: Target::Variable, value: Some(Value::Last), ..rmw }]);
        let post = Effect { kind: "post", ..plain };
        is("post#1*+post", &[Effect { target: Target::Keys(Operand::Argument(1)), ..post }, post]);
        is("await@<?", &[Effect { kind: "await", target: Target::Back, condition: Condition::True, ..plain }]);
        is("post@!", &[Effect { target: Target::All, ..post }]);
        is("post$root", &[Effect { target: Target::Field("root", false), ..post }]);
        is("post$threads*", &[Effect { target: Target::Field("threads", true), ..post }]);
        is("post@=*", &[Effect { target: Target::Each(Operand::Result), ..post }]);
        is(
            "await%=?",
            &[Effect { kind: "await", target: Target::Element(Operand::Result), condition: Condition::True, ..plain }],
        );
        for wrong in ["", "+", "acq+", "lock", "acq@", "acq@0", "load:late", "acq@1x", "post#", "post$", "@1"] {
            assert_eq!(Effect::column(wrong), None, "{wrong}");
        }
    }
}
