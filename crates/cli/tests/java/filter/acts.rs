//! Small programs along a fixed order: what they consist of, which are possible, and random ones.

use oracle::random::Random;
use std::fmt::Write;

/// How a variable may be accessed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Kind {
    Plain,
    Volatile,
    /// Plainly, and by a `VarHandle` as if it were volatile.
    Both,
}

/// A variable.
#[derive(Debug)]
pub(crate) struct Variable {
    /// As it is recorded, without the number of its object.
    pub(crate) name: &'static str,
    /// The object that it belongs to.
    pub(crate) of: usize,
    pub(crate) kind: Kind,
    /// The object that it refers to, if it does.
    pub(crate) refers: Option<usize>,
    /// How Java spells it, of an object `o`.
    pub(crate) java: &'static str,
}

/// Objects, as Driver.java numbers them, and the classes that they are cast to.
pub(crate) const CLASSES: [&str; 8] = ["P", "Q", "int[]", "N", "M", "N[]", "int[]", "Object"];
const N: usize = 3;
const M: usize = 4;
const BIG: usize = 6;

const fn variable(name: &'static str, of: usize, kind: Kind, refers: Option<usize>, java: &'static str) -> Variable {
    Variable { name, of, kind, refers, java }
}

pub(crate) const VARIABLES: [Variable; 17] = [
    variable("Acts$P.x", 0, Kind::Plain, None, "o.x"),
    variable("Acts$P.y", 0, Kind::Plain, None, "o.y"),
    variable("Acts$Q.x", 1, Kind::Plain, None, "o.x"),
    variable("Acts.x", 7, Kind::Plain, None, "x"),
    variable("int[][0]", 2, Kind::Plain, None, "o[0]"),
    variable("int[][1]", 2, Kind::Plain, None, "o[1]"),
    variable("Acts$P.v", 0, Kind::Volatile, None, "o.v"),
    variable("Acts.v", 7, Kind::Volatile, None, "v"),
    variable("Acts$P.z", 0, Kind::Both, None, "o.z"),
    variable("Acts$P.n", 0, Kind::Plain, Some(N), "o.n"),
    variable("Acts$P.m", 0, Kind::Plain, Some(M), "o.m"),
    variable("Acts$P.vn", 0, Kind::Volatile, Some(N), "o.vn"),
    variable("Acts$N[][0]", 5, Kind::Plain, Some(N), "o[0]"),
    variable("Acts$N.x", N, Kind::Plain, None, "o.x"),
    variable("Acts$M.x", M, Kind::Plain, None, "o.x"),
    variable("int[][8]", BIG, Kind::Plain, None, "o[8]"),
    variable("int[][9]", BIG, Kind::Plain, None, "o[9]"),
];

/// Variables of objects that an act makes.
pub(crate) const MADE: [usize; 2] = [13, 14];
/// Elements that share a cell.
pub(crate) const SHARING: [usize; 2] = [15, 16];

/// Locks, as they are recorded; the first two are monitors.
pub(crate) const LOCKS: [&str; 3] = ["Acts$L", "Acts$P", "java.util.concurrent.locks.ReentrantLock"];
const MONITORS: usize = 2;

/// Sites of each kind of access of a variable.
pub(crate) const SITES: usize = 48;

/// An access.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub(crate) enum Way {
    Read,
    Write,
    Load,
    Store,
    Rmw,
}

impl Way {
    pub(crate) const ALL: [Way; 5] = [Way::Read, Way::Write, Way::Load, Way::Store, Way::Rmw];

    /// As traces spell it.
    pub(crate) fn text(self) -> &'static str {
        ["r", "w", "ald", "ast", "armw"][self as usize]
    }

    fn is_atomic(self) -> bool {
        !matches!(self, Way::Read | Way::Write)
    }

    pub(crate) fn fits(self, variable: &Variable) -> bool {
        match variable.kind {
            Kind::Plain => !self.is_atomic(),
            Kind::Volatile => matches!(self, Way::Load | Way::Store),
            Kind::Both => true,
        }
    }
}

/// What a thread does.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Do {
    Access(Way, usize),
    Acquire(usize),
    Release(usize),
    Fork(usize),
    Join(usize),
    /// Makes an object.
    Make(usize),
    /// Gets an object by ways that are not watched.
    Take(usize),
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Act {
    pub(crate) thread: usize,
    pub(crate) what: Do,
}

/// Threads of a program, at most; the first is there from the beginning.
pub(crate) const THREADS: usize = 4;

/// What is so at some point of a program.
#[derive(Clone, Debug)]
struct State {
    started: [bool; THREADS],
    joined: [bool; THREADS],
    holder: [Option<usize>; LOCKS.len()],
    monitors: [Vec<usize>; THREADS],
    made: [bool; CLASSES.len()],
    has: [[bool; CLASSES.len()]; THREADS],
    refers: [bool; VARIABLES.len()],
    used: [[[usize; Way::ALL.len()]; VARIABLES.len()]; THREADS],
}

impl State {
    fn new() -> State {
        let mut has = [true; CLASSES.len()];
        (has[N], has[M]) = (false, false);
        State {
            started: [true, false, false, false],
            joined: [false; THREADS],
            holder: [None; LOCKS.len()],
            monitors: Default::default(),
            made: [false; CLASSES.len()],
            has: [has; THREADS],
            refers: [false; VARIABLES.len()],
            used: [[[0; 5]; VARIABLES.len()]; THREADS],
        }
    }

    /// Does an act, if it can be done now without waiting.
    fn act(&mut self, Act { thread: t, what }: Act) -> bool {
        if !self.started[t] || self.joined[t] {
            return false;
        }
        match what {
            Do::Access(way, v) => {
                let variable = &VARIABLES[v];
                let refers = variable.refers;
                let has_it = refers.is_none_or(|object| !matches!(way, Way::Write | Way::Store) || self.has[t][object]);
                if !way.fits(variable) || !self.has[t][variable.of] || !has_it || self.used[t][v][way as usize] == SITES
                {
                    return false;
                }
                self.used[t][v][way as usize] += 1;
                if let Some(object) = refers {
                    match way {
                        Way::Read | Way::Load => self.has[t][object] |= self.refers[v],
                        _ => self.refers[v] = true,
                    }
                }
                true
            }
            Do::Acquire(l) => {
                let may = self.holder[l].is_none();
                if may {
                    self.holder[l] = Some(t);
                    if l < MONITORS {
                        self.monitors[t].push(l);
                    }
                }
                may
            }
            Do::Release(l) => {
                let may = self.holder[l] == Some(t) && (l >= MONITORS || self.monitors[t].last() == Some(&l));
                if may {
                    self.holder[l] = None;
                    if l < MONITORS {
                        self.monitors[t].pop();
                    }
                }
                may
            }
            Do::Fork(u) => !std::mem::replace(&mut self.started[u], true),
            Do::Join(u) => {
                let may = u != t && self.started[u] && !self.joined[u] && !self.holder.contains(&Some(u));
                self.joined[u] |= may;
                may
            }
            Do::Make(object) => {
                let may = matches!(object, N | M) && !self.made[object];
                if may {
                    self.made[object] = true;
                    self.has[t][object] = true;
                }
                may
            }
            Do::Take(object) => {
                let may = self.made[object] && !self.has[t][object];
                self.has[t][object] |= may;
                may
            }
        }
    }
}

/// Whether a program can run along its order, and ends.
pub(crate) fn is_possible(acts: &[Act]) -> bool {
    let mut state = State::new();
    acts.iter().all(|&act| state.act(act)) && state.holder.iter().all(Option::is_none)
}

/// A program as Driver.java reads it. The number is that of its threads' names.
pub(crate) fn driver_line(number: u64, acts: &[Act]) -> String {
    let threads = acts.iter().map(|act| if let Do::Fork(t) = act.what { t + 1 } else { 1 }).max().unwrap_or(1);
    let mut line = format!("{number} {threads}");
    for (act, (site, value)) in acts.iter().zip(sites_and_values(acts)) {
        let (what, of) = match act.what {
            Do::Access(way, v) => (0, number_of(way, v)),
            Do::Acquire(l) => (1, l),
            Do::Release(l) => (2, l),
            Do::Fork(t) => (3, t),
            Do::Join(t) => (4, t),
            Do::Make(object) => (5, object),
            Do::Take(object) => (6, object),
        };
        write!(line, " {} {what} {of} {site} {value}", act.thread).expect("a string");
    }
    line
}

/// Of each act: which of its kind it is in its thread, and the value that it writes.
pub(crate) fn sites_and_values(acts: &[Act]) -> Vec<(usize, usize)> {
    let before = |i: usize| acts[..i].iter().filter(|act| **act == acts[i]).count();
    (0..acts.len()).map(|i| (before(i), 1 + i % 3)).collect()
}

/// The number of a kind of access of a variable.
pub(crate) fn number_of(way: Way, variable: usize) -> usize {
    variable * Way::ALL.len() + way as usize
}

/// Of each act: the value that an atomic load reads, where an act has written it.
pub(crate) fn loaded(acts: &[Act]) -> Vec<Option<usize>> {
    let mut values = [None; VARIABLES.len()];
    let sites = sites_and_values(acts);
    let mut value_of = |(act, (_, value)): (&Act, (usize, usize))| {
        let Do::Access(way, v) = act.what else { return None };
        match way {
            Way::Write | Way::Store => values[v] = Some(value),
            // Objects have no values; what is there at the beginning may be left by another program.
            Way::Rmw => values[v] = values[v].map(|value| value + 1),
            Way::Read => {}
            Way::Load => return values[v].filter(|_| VARIABLES[v].refers.is_none()),
        }
        None
    };
    acts.iter().zip(sites).map(&mut value_of).collect()
}

/// The trace of all that a program does; the site of an event is the number of its act. Values of volatile variables
/// are recorded, those of objects are not.
pub(crate) fn trace_of(acts: &[Act]) -> String {
    let mut text = String::new();
    let loaded = loaded(acts);
    for (i, (act, (_, value))) in acts.iter().zip(sites_and_values(acts)).enumerate() {
        let event = match act.what {
            Do::Access(way, v) => {
                let stored = (way == Way::Store && VARIABLES[v].refers.is_none()).then_some(value);
                let recorded = stored.or(loaded[i]).map_or(String::new(), |value| format!("={value}"));
                format!("{}({}){recorded}", way.text(), VARIABLES[v].name)
            }
            Do::Acquire(l) => format!("acq({})", LOCKS[l]),
            Do::Release(l) => format!("rel({})", LOCKS[l]),
            Do::Fork(t) => format!("fork(t{t})"),
            Do::Join(t) => format!("join(t{t})"),
            Do::Make(_) | Do::Take(_) => continue,
        };
        writeln!(text, "t{}|{event}|{i}", act.thread).expect("a string");
    }
    text
}

/// What random programs are made of.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Style {
    /// Few events: predictions are compared with brute force.
    Small,
    /// More, and now and then many of one thread in a row.
    Long,
    /// Objects pass between threads by ways that are not watched.
    Unseen,
    /// Elements of arrays that share a cell.
    Sharing,
}

/// A random program.
pub(crate) fn random(style: Style, r: &mut Random) -> Vec<Act> {
    let threads = 2 + r.below(THREADS - 1);
    let length = if style == Style::Small { 5 + r.below(16) } else { 15 + r.below(80) };
    let mut usual: Vec<usize> = (0..SHARING[0]).collect();
    if style == Style::Sharing {
        usual.extend(SHARING.iter().cycle().take(20));
    }
    if style == Style::Unseen || r.percent(30) {
        usual.extend(MADE.iter().cycle().take(20));
        usual.extend(9..=12);
    }
    let variables: Vec<usize> = (0..1 + r.below(4)).map(|_| *r.pick(&usual)).collect();
    let locks: Vec<usize> = (0..r.below(3)).map(|_| r.below(LOCKS.len())).collect();
    let (stay, in_a_row) = (r.below(90), if style == Style::Small { 0 } else { r.below(8) });
    let (mut state, mut acts): (State, Vec<Act>) = (State::new(), Vec::new());
    let add = |acts: &mut Vec<Act>, state: &mut State, act: Act| {
        let mut tried = state.clone();
        if tried.act(act) {
            *state = tried;
            acts.push(act);
            return true;
        }
        false
    };
    let mut thread = 0;
    for _ in 0..length * 8 {
        if acts.len() >= length {
            break;
        }
        if !r.percent(stay) {
            thread = r.below(threads);
        }
        let access = |r: &mut Random| {
            let v = *r.pick(&variables);
            // What refers to an object that is needed is needed, too.
            let v = match VARIABLES[v].of {
                N if r.percent(40) => *r.pick(&[9, 11, 12]),
                M if r.percent(40) => 10,
                _ => v,
            };
            Do::Access(*r.pick(&Way::ALL), v)
        };
        let what = match r.below(100) {
            0..=9 => Do::Fork(1 + r.below(threads - 1)),
            10 => Do::Join(r.below(threads)),
            11..=17 => Do::Make(*r.pick(&[N, M])),
            18..=21 if style == Style::Unseen => Do::Take(*r.pick(&[N, M])),
            22..=34 if !locks.is_empty() => Do::Acquire(*r.pick(&locks)),
            35..=52 if !locks.is_empty() => Do::Release(*r.pick(&locks)),
            _ => access(r),
        };
        // A thread without a join does nothing that ends it.
        if let Do::Make(object) = what
            && !variables.iter().any(|&v| VARIABLES[v].of == object || VARIABLES[v].refers == Some(object))
        {
            continue;
        }
        add(&mut acts, &mut state, Act { thread, what });
        if r.percent(in_a_row) {
            // Again and again, with something in between that lets others in.
            let (first, second) = (access(r), access(r));
            let lock = locks.first().copied().filter(|_| r.percent(70));
            for _ in 0..12 + r.below(14) {
                let lock = lock.filter(|&l| add(&mut acts, &mut state, Act { thread, what: Do::Acquire(l) }));
                add(&mut acts, &mut state, Act { thread, what: first });
                if r.percent(50) {
                    add(&mut acts, &mut state, Act { thread, what: second });
                }
                if let Some(l) = lock {
                    assert!(add(&mut acts, &mut state, Act { thread, what: Do::Release(l) }));
                }
            }
        }
    }
    for thread in 0..THREADS {
        while let Some(&l) = state.monitors[thread].last() {
            add(&mut acts, &mut state, Act { thread, what: Do::Release(l) });
        }
        let held = (0..LOCKS.len()).filter(|&l| state.holder[l] == Some(thread)).collect::<Vec<_>>();
        for l in held {
            add(&mut acts, &mut state, Act { thread, what: Do::Release(l) });
        }
    }
    assert!(is_possible(&acts));
    acts
}
