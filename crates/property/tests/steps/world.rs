//! Random properties over everything an atom can be about, and random traces that have all of it.

use event::{Batch, Event, Extra, LockId, Names, Op, SiteId, Space, StrId, ThreadId, Value};
use property::syntax::Loader;
use std::collections::BTreeSet;

pub(crate) struct Random(pub(crate) u64);

impl Random {
    pub(crate) fn below(&mut self, n: usize) -> usize {
        self.0 = self.0.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (self.0 >> 33) as usize % n
    }
}

pub(crate) struct Text(pub(crate) String);

impl Loader for Text {
    fn load(&self, _path: &str) -> Result<Vec<u8>, String> {
        Ok(self.0.clone().into_bytes())
    }
}

const PARAMS: [(&str, &str); 6] =
    [("i", "thread"), ("j", "thread"), ("l", "lock"), ("o", "object<C>"), ("n", "int"), ("k", "object<C>")];

const DECLARED: &str = "shared int x = 0 at trace \"x\"; shared int y at trace \"y\"; \
    shared ref owner at trace \"owner\"; \
    shared int v[o : object<C>] = 1 at java C.v; shared int w[o : object<C>] at java C.w; \
    local int own = 0 at trace \"own\"; region r at trace \"r\"; event tick(n : int) at trace \"tick\"; ";

/// Atoms and the parameters they mention.
const ATOMS: &[(&str, &[usize])] = &[
    ("write(x, i)", &[0]),
    ("write(x, j)", &[1]),
    ("read(x)", &[]),
    ("acquire(l, i)", &[2, 0]),
    ("release(l, _)", &[2]),
    ("write(v[o], j)", &[3, 1]),
    ("read(v[o])", &[3]),
    ("tick(n)", &[4]),
    ("tick(1)", &[]),
    ("x > 0", &[]),
    ("x > y", &[]),
    ("y >= x + 1", &[]),
    ("y == 0", &[]),
    ("v[o] > x", &[3]),
    ("v[o] == 0", &[3]),
    ("w[o] > 0", &[3]),
    ("w[o] == v[k]", &[3, 5]),
    ("write(w[k])", &[5]),
    ("n > 0", &[4]),
    ("x == n", &[4]),
    ("n + 9223372036854775806 > 5", &[4]),
    ("owner == i", &[0]),
    ("enter(r, i)", &[0]),
    ("exit(r, i)", &[0]),
    ("r[i]", &[0]),
    ("own[j] > 0", &[1]),
    ("started(i)", &[0]),
    ("finished(j)", &[1]),
    ("fork(i, j)", &[0, 1]),
    ("wait_begin(l, i)", &[2, 0]),
    ("notify(l, _)", &[2]),
];

fn formula(random: &mut Random, atoms: &[usize], depth: usize) -> String {
    if depth == 0 || random.below(5) == 0 {
        return ATOMS[atoms[random.below(atoms.len())]].0.to_owned();
    }
    let a = formula(random, atoms, depth - 1);
    let one = random.below(11);
    match one {
        0 => return format!("!({a})"),
        1 => return format!("once ({a})"),
        2 => return format!("hist ({a})"),
        3 => return format!("prev ({a})"),
        4 => return format!("start({a})"),
        _ => {}
    }
    let b = formula(random, atoms, depth - 1);
    match one {
        5 => format!("(({a}) && ({b}))"),
        6 | 7 => format!("(({a}) || ({b}))"),
        8 => format!("(({a}) -> ({b}))"),
        9 => format!("(({a}) since ({b}))"),
        _ => format!("[({a}), ({b}))"),
    }
}

/// A specification with one property, and what the property says.
pub(crate) fn property(random: &mut Random) -> (String, String) {
    let chosen: BTreeSet<usize> = (0..1 + random.below(3)).map(|_| random.below(ATOMS.len())).collect();
    let chosen: Vec<usize> = chosen.into_iter().collect();
    let leaf = |random: &mut Random| ATOMS[chosen[random.below(chosen.len())]].0;
    let (logic, body) = match random.below(8) {
        0 => ("future", format!("always ({} -> next ({} || !{}))", leaf(random), leaf(random), leaf(random))),
        1 => ("ere never", format!("{{{}}} {{!({})}} {{{}}}", leaf(random), leaf(random), leaf(random))),
        2 => (
            "fsm",
            format!(
                "init a; bad c; otherwise stay; a {{ {} => b; }} b {{ {} => c; {} => a; }} c {{ }}",
                leaf(random),
                leaf(random),
                leaf(random)
            ),
        ),
        3..6 => ("past", formula(random, &chosen, 3)),
        // Seldom false from the beginning.
        _ => ("past", format!("{} -> {}", leaf(random), formula(random, &chosen, 2))),
    };
    let atoms = ATOMS.iter().filter(|(text, _)| body.contains(text));
    let params: BTreeSet<usize> = atoms.flat_map(|(_, params)| *params).copied().collect();
    let params: Vec<usize> = params.into_iter().collect();
    let list: Vec<String> = params.iter().map(|&p| format!("{} : {}", PARAMS[p].0, PARAMS[p].1)).collect();
    let filter = if params.contains(&0) && params.contains(&1) { " where i != j" } else { "" };
    let list = if list.is_empty() { String::new() } else { format!("({}{filter})", list.join(", ")) };
    let with = if random.below(4) == 0 { " with { steps = all; }" } else { "" };
    (format!("spec S {{ {DECLARED} property p{list} {logic} {{ {body} }}{with} }}"), body)
}

/// What a random event is; which objects it is about is random, too.
const KINDS: &[(&str, &[Op])] = &[
    ("x", &[Op::Write, Op::Write, Op::AtomicRmw, Op::Read]),
    ("y", &[Op::Write, Op::AtomicStore]),
    ("own[", &[Op::Write]),
    ("owner", &[Op::Write]),
    ("v[", &[Op::Write, Op::Write, Op::Read]),
    ("w[", &[Op::Write]),
    ("acquire", &[Op::Acquire]),
    ("release", &[Op::Release]),
    ("wait", &[Op::Wait]),
    ("notify", &[Op::Notify, Op::NotifyAll]),
    ("tick", &[Op::Internal]),
    ("r, ", &[Op::Begin, Op::End]),
    ("r[", &[Op::Begin, Op::End]),
    ("fork", &[Op::Fork]),
    ("finished", &[Op::Join]),
    ("z", &[Op::Write, Op::Fence]),
];

/// A trace, mostly of what the property is about; in some, memory is given and taken back.
pub(crate) fn trace(random: &mut Random, body: &str) -> (Names, Batch) {
    let mut names = Names::default();
    let mut batch = Batch::default();
    let mut add = |space, name: &str| names.add(space, name).expect("room");
    let threads: Vec<u32> = (0..3).map(|t| add(Space::Thread, &format!("T{t}"))).collect();
    let locks: Vec<u32> = (0..2).map(|l| add(Space::Lock, &format!("L{l}"))).collect();
    let conds: Vec<u32> = (0..2).map(|l| add(Space::Cond, &format!("L{l}"))).collect();
    let blocks: Vec<u32> = ["r", "r", "s"].iter().map(|b| add(Space::Block, b)).collect();
    let tick = add(Space::Label, "tick");
    let owners: Vec<u32> = ["T0", "T1", "nobody"].iter().map(|name| add(Space::Str, name)).collect();
    let inits: Vec<u32> = ["x", "y", "C.v@0", "C.w@1", "C.w@0"].iter().map(|name| add(Space::Str, name)).collect();
    let plain: Vec<u32> = ["x", "y", "own", "owner", "z"].iter().map(|name| add(Space::Var, name)).collect();
    let fields: Vec<u32> = ["C.v@0", "C.v@1", "C.w@0", "C.w@1"].iter().map(|name| add(Space::Var, name)).collect();
    let about: Vec<usize> = (0..KINDS.len()).filter(|&kind| body.contains(KINDS[kind].0)).collect();
    let frees = random.below(2) == 0;
    let int = |random: &mut Random| {
        if random.below(8) == 0 { Value::Unknown } else { Value::Int(random.below(4) as i64 - 1) }
    };
    for _ in 0..random.below(20) {
        if random.below(20) == 0 || (batch.events.is_empty() && random.below(3) == 0) {
            batch.push_init(StrId(inits[random.below(inits.len())]), int(random));
        }
        let mut extra = Extra::default();
        let any = about.is_empty() || random.below(6) == 0;
        let (name, ops) = KINDS[if any { random.below(KINDS.len()) } else { about[random.below(about.len())] }];
        let mut op = ops[random.below(ops.len())];
        let of_object = ["v[", "w["].iter().position(|&field| field == name);
        let object = match (op, of_object) {
            (Op::Fence, _) => 0,
            (Op::Acquire | Op::Release, _) => locks[random.below(2)],
            (Op::Wait, _) => {
                extra.lock = LockId(locks[random.below(2)]);
                conds[random.below(2)]
            }
            (Op::Notify | Op::NotifyAll, _) => conds[random.below(2)],
            (Op::Internal, _) => {
                extra.args_start = batch.args.len() as u32;
                extra.args_len = 1;
                batch.args.push(Value::Int(random.below(3) as i64));
                tick
            }
            (Op::Begin | Op::End, _) => blocks[random.below(3)],
            (Op::Fork | Op::Join, _) => threads[random.below(3)],
            (_, Some(field)) => fields[field * 2 + random.below(2)],
            _ => plain[["x", "y", "own[", "owner", "z"].iter().position(|&n| n == name).unwrap_or(0)],
        };
        if op.has_value() {
            let owner = name == "owner";
            extra.value = if owner { Value::Str(StrId(owners[random.below(3)])) } else { int(random) };
            if frees && random.below(5) == 0 {
                op = [Op::Alloc, Op::Free][random.below(2)];
                extra = Extra::default();
            }
        }
        let extra = batch.add_extra(extra);
        batch.events.push(Event::with_extra(ThreadId(threads[random.below(3)]), op, object, SiteId(0), extra));
    }
    (names, batch)
}
