//! What a row of a table has told: the notation, which `concurrent.table` explains, and what it means.

/// The words that tables may use.
pub const WORDS: [&str; 39] = [
    "acq",
    "rel",
    "tacq",
    "racq",
    "rrel",
    "rtacq",
    "unlock",
    "toread",
    "towrite",
    "tooptimistic",
    "wait",
    "woken",
    "notify",
    "notifyall",
    "post",
    "await",
    "up",
    "down",
    "join",
    "load",
    "store",
    "rmw",
    "fence",
    "view",
    "field",
    "monitors",
    "permits",
    "condition",
    "read",
    "write",
    "look",
    "unseen",
    "request",
    "optimistic",
    "validated",
    "part",
    "current",
    "ended",
    "change",
];
/// The memory orders that follow some of them.
pub const ORDERS: [&str; 5] = ["relaxed", "acquire", "release", "acqrel", "seqcst"];

/// What is told once.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Told {
    /// What: one of [`WORDS`].
    pub what: &'static str,
    /// One of [`ORDERS`].
    pub order: &'static str,
    /// Of what.
    pub of: Of,
    /// The value that an atomic access loads or stores.
    pub value: Option<Value>,
    /// Only then.
    pub when: When,
    /// Also when the call throws something.
    pub is_thrown: bool,
}

/// Of what something is told.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Of {
    /// Of the object that is called or whose field it is; of none if there is none.
    Receiver,
    /// `@`: of another object. If it is an int, of the receiver's element with that index. If the receiver stands for a field (word `field`), of that field of the object.
    Object(Which),
    /// `@*`, of `VarHandle`s: of the variable that the first arguments name.
    Variable,
    /// `@.`: of the thread that calls.
    Thread,
    /// `^`, inside the JDK: of the object whose method it is.
    This,
    /// `$`, inside the JDK: of what is in the field of that name, of the object whose method it is; with `*` behind it, of each element of that collection.
    Field(&'static str, bool),
    /// `@…*`, inside the JDK: of each element of a collection.
    Each(Which),
    /// `@!`: of what all of the process have in common.
    All,
    /// `@<`: of what comes back from who takes to who gives; of a queue with bounds only if it is nearly full, of one without them never.
    Back,
    /// `#`: of the receiver's entry for a key; keys that are equal are the same.
    Key(Which),
    /// `#…*`: of the receiver's entries for each key of a map or element of a collection.
    Keys(Which),
    /// `%`: of the receiver's element that is this object.
    Element(Which),
    /// `%…*`: of the receiver's elements that are those of a collection.
    Elements(Which),
}

/// Which object of a call.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Which {
    /// An argument; the first is 1.
    Argument(u8),
    /// What is returned.
    Result,
}

/// What value an atomic access has.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Value {
    /// `=@N`: that of an argument.
    Argument(u8),
    /// `=@-`: that of the last argument.
    Last,
    /// `=@=`: what is returned.
    Result,
    /// `=@=+1`: so much more than what is returned.
    ResultPlus(i8),
    /// `=@=+@N`: more than what is returned by an argument.
    ResultPlusArgument(u8),
}

/// When something is told.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum When {
    /// Always.
    Always,
    /// `?`: if the result is true, not 0, not null. What was no `rmw` then is a `load`.
    True,
    /// `?!`: if it is not.
    False,
    /// `?<`: if it is negative.
    Negative,
}

impl Of {
    /// The argument that is spoken of.
    pub(super) fn argument(self) -> Option<u8> {
        match self {
            Of::Object(which)
            | Of::Each(which)
            | Of::Key(which)
            | Of::Keys(which)
            | Of::Element(which)
            | Of::Elements(which) => match which {
                Which::Argument(number) => Some(number),
                Which::Result => None,
            },
            Of::Receiver | Of::Variable | Of::Thread | Of::This | Of::Field(..) | Of::All | Of::Back => None,
        }
    }
}

impl Told {
    /// The argument whose value is spoken of.
    pub(super) fn value_argument(&self) -> Option<u8> {
        match self.value {
            Some(Value::Argument(number) | Value::ResultPlusArgument(number)) => Some(number),
            _ => None,
        }
    }

    /// Whether an object stands for another from then on.
    pub(super) fn is_view(&self) -> bool {
        matches!(self.what, "view" | "part")
    }

    /// Everything that a column of a row tells; `None` if it makes no sense.
    pub(super) fn column(text: &'static str) -> Option<Vec<Told>> {
        if text == "-" {
            return Some(Vec::new());
        }
        // A `+` before a word; others are in values.
        let is_new = |at: usize| text[at + 1..].starts_with(|next: char| next.is_ascii_lowercase());
        let mut all = Vec::new();
        let mut begin = 0;
        for (at, _) in text.match_indices('+').filter(|&(at, _)| is_new(at)).chain([(text.len(), "")]) {
            all.push(Told::one(&text[begin..at])?);
            begin = at + 1;
        }
        Some(all)
    }

    fn one(text: &'static str) -> Option<Told> {
        let (text, is_thrown) = text.strip_suffix("&!").map_or((text, false), |text| (text, true));
        let whens = [("?!", When::False), ("?<", When::Negative), ("?", When::True)];
        let when = whens.iter().find_map(|&(suffix, when)| Some((text.strip_suffix(suffix)?, when)));
        let (text, when) = when.unwrap_or((text, When::Always));
        let end = text.find(|letter: char| !letter.is_ascii_lowercase()).unwrap_or(text.len());
        let (what, text) = text.split_at(end);
        let (order, text) = match text.strip_prefix(':') {
            None => ("seqcst", text),
            Some(text) => text.split_at(text.find(['@', '#', '%', '=']).unwrap_or(text.len())),
        };
        let (of, text) = of(text)?;
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
        let is_known = WORDS.contains(&what) && ORDERS.contains(&order);
        is_known.then_some(Told { what, order, of, value, when, is_thrown })
    }
}

/// Of what, and what follows it.
fn of(text: &'static str) -> Option<(Of, &'static str)> {
    let Some(rest) = text.strip_prefix(['@', '#', '%', '^', '$']) else { return Some((Of::Receiver, text)) };
    match (text.as_bytes()[0], rest.as_bytes().first()) {
        (b'^', _) => return Some((Of::This, rest)),
        (b'$', _) => {
            let (name, rest) = rest.split_at(rest.find(|c: char| !c.is_ascii_alphanumeric()).unwrap_or(rest.len()));
            let (rest, is_each) = rest.strip_prefix('*').map_or((rest, false), |rest| (rest, true));
            return (!name.is_empty()).then_some((Of::Field(name, is_each), rest));
        }
        (b'@', Some(b'*')) => return Some((Of::Variable, &rest[1..])),
        (b'@', Some(b'.')) => return Some((Of::Thread, &rest[1..])),
        (b'@', Some(b'!')) => return Some((Of::All, &rest[1..])),
        (b'@', Some(b'<')) => return Some((Of::Back, &rest[1..])),
        _ => {}
    }
    let which = match rest.as_bytes().first()? {
        b'=' => Which::Result,
        digit => Which::Argument(digit.checked_sub(b'0').filter(|digit| (1..=9).contains(digit))?),
    };
    let rest = &rest[1..];
    let (rest, is_each) = rest.strip_prefix('*').map_or((rest, false), |rest| (rest, true));
    let of = match (text.as_bytes()[0], is_each) {
        (b'@', false) => Of::Object(which),
        (b'@', true) => Of::Each(which),
        (b'#', false) => Of::Key(which),
        (b'#', true) => Of::Keys(which),
        (b'%', false) => Of::Element(which),
        (b'%', true) => Of::Elements(which),
        _ => return None,
    };
    Some((of, rest))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_are_read() {
        let plain =
            Told { what: "acq", order: "seqcst", of: Of::Receiver, value: None, when: When::Always, is_thrown: false };
        let is = |text, told: &[Told]| assert_eq!(Told::column(text).as_deref(), Some(told), "{text}");
        is("-", &[]);
        is("acq", &[plain]);
        is("woken&!", &[Told { what: "woken", is_thrown: true, ..plain }]);
        is("join?!", &[Told { what: "join", when: When::False, ..plain }]);
        let load = Told { what: "load", order: "acquire", ..plain };
        is("load:acquire@1=@=", &[Told { of: Of::Object(Which::Argument(1)), value: Some(Value::Result), ..load }]);
        let rmw = Told { what: "rmw", ..plain };
        is("rmw=@=+@1", &[Told { value: Some(Value::ResultPlusArgument(1)), ..rmw }]);
        is("rmw=@=-1?", &[Told { value: Some(Value::ResultPlus(-1)), when: When::True, ..rmw }]);
        is("rmw@*=@-", &[Told { of: Of::Variable, value: Some(Value::Last), ..rmw }]);
        let post = Told { what: "post", ..plain };
        is("post#1*+post", &[Told { of: Of::Keys(Which::Argument(1)), ..post }, post]);
        is("await@<?", &[Told { what: "await", of: Of::Back, when: When::True, ..plain }]);
        is("post@!", &[Told { of: Of::All, ..post }]);
        is("post$root", &[Told { of: Of::Field("root", false), ..post }]);
        is("post$threads*", &[Told { of: Of::Field("threads", true), ..post }]);
        is("post@=*", &[Told { of: Of::Each(Which::Result), ..post }]);
        is("await%=?", &[Told { what: "await", of: Of::Element(Which::Result), when: When::True, ..plain }]);
        for wrong in ["", "+", "acq+", "lock", "acq@", "acq@0", "load:late", "acq@1x", "post#", "post$", "@1"] {
            assert_eq!(Told::column(wrong), None, "{wrong}");
        }
    }
}
