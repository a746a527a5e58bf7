//! How many steps a second monitors take, on one core, after warm-up. Best of several rounds.

use std::hint::black_box;
use std::time::Instant;

use property::monitor::{AnyMonitor, EreMode, Letter, Limits, Monitor, Options, Q, ere, future, past};
use property::{Ere, Formula};

fn a(atom: u32) -> Formula {
    Formula::Atom(atom)
}

fn not(f: Formula) -> Formula {
    Formula::Not(Box::new(f))
}

fn one(op: fn(Box<Formula>) -> Formula, f: Formula) -> Formula {
    op(Box::new(f))
}

fn two(op: fn(Box<Formula>, Box<Formula>) -> Formula, f: Formula, g: Formula) -> Formula {
    op(Box::new(f), Box::new(g))
}

/// Ten operators, six of them temporal, over four atoms.
fn past_few_atoms() -> Formula {
    let interval = two(Formula::Interval, a(1), a(2));
    let left = two(Formula::Implies, one(Formula::Start, a(0)), interval);
    let since = two(Formula::Since, one(Formula::Once, a(3)), not(a(1)));
    let right = two(Formula::Or, since, two(Formula::Or, one(Formula::Prev, a(0)), one(Formula::Hist, a(2))));
    two(Formula::Or, left, right)
}

/// Ten temporal operators over eleven atoms, and the Boolean ones that join them.
fn past_many_atoms() -> Formula {
    let mut f = a(10);
    for atom in 0..10 {
        let g = match atom % 5 {
            0 => one(Formula::Start, a(atom)),
            1 => one(Formula::Once, a(atom)),
            2 => two(Formula::Since, a(atom), a(atom - 1)),
            3 => two(Formula::Interval, a(atom), a(atom - 1)),
            _ => one(Formula::Prev, a(atom)),
        };
        f = two(Formula::Or, f, g);
    }
    f
}

/// Ten operators, all temporal, one over the other.
fn past_deep() -> Formula {
    let mut f = a(0);
    for k in 0..5 {
        f = one(Formula::Once, two(Formula::Since, f, a(k + 1)));
    }
    f
}

fn response(p: u32, q: u32) -> Formula {
    one(Formula::Always, two(Formula::Implies, a(p), one(Formula::Eventually, a(q))))
}

fn three_conjuncts() -> Formula {
    let until = two(Formula::Until, a(3), two(Formula::Or, a(4), a(5)));
    let second = one(Formula::Always, two(Formula::Implies, a(2), until));
    let third = one(Formula::Always, two(Formula::Implies, a(6), one(Formula::Next, two(Formula::Or, a(7), a(8)))));
    two(Formula::And, response(0, 1), two(Formula::And, second, third))
}

fn pattern() -> Ere {
    let leaf = |atom| Box::new(Ere::Leaf(a(atom)));
    let cat = |x, y| Box::new(Ere::Cat(x, y));
    let any = || Box::new(Ere::Star(Box::new(Ere::Any)));
    // open (read | write)* (no close before) open
    let inside = Box::new(Ere::Star(Box::new(Ere::Or(leaf(1), leaf(2)))));
    let no_close = Box::new(Ere::Not(cat(cat(any(), leaf(3)), any())));
    Ere::Cat(leaf(0), Box::new(Ere::And(cat(cat(inside, leaf(4)), any()), cat(no_close, leaf(5)))))
}

/// Letters that never decide the property, so that every step does its work.
fn letters(monitor: &AnyMonitor, atoms: u32) -> Vec<Letter> {
    let mut seed = 0x2545_f491_4f6c_dd1d_u64;
    let mut q: Option<Q> = None;
    let mut out = Vec::new();
    while out.len() < 1 << 14 {
        seed ^= seed << 13;
        seed ^= seed >> 7;
        seed ^= seed << 17;
        let letter = Letter::known(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> (64 - atoms));
        let next = q.map_or_else(|| monitor.init(letter), |q| monitor.step(q, letter));
        if !monitor.verdict(next).is_final() {
            q = Some(next);
            out.push(letter);
        }
    }
    out
}

/// The loop that a user of monitors writes: the verdict is looked at after every step.
fn run<M: Monitor>(monitor: &M, letters: &[Letter], rounds: usize) -> (f64, usize) {
    let mut bad = 0;
    let start = Instant::now();
    for _ in 0..rounds {
        let mut q = monitor.init(letters[0]);
        for letter in &letters[1..] {
            q = monitor.step(q, *letter);
            bad += usize::from(monitor.verdict(q).is_bad());
        }
        black_box(q);
    }
    let steps = (rounds * (letters.len() - 1)) as f64;
    (steps / start.elapsed().as_secs_f64() / 1e6, black_box(bad))
}

fn measure(name: &str, monitor: &AnyMonitor, atoms: u32, floor: f64) -> bool {
    let letters = letters(monitor, atoms);
    let mut best = 0.0_f64;
    for _ in 0..7 {
        let (rate, _) = match monitor {
            AnyMonitor::Table(m) => run(m, &letters, 200),
            AnyMonitor::Past(m) => run(m, &letters, 200),
            AnyMonitor::Lazy(m) => run(m, &letters, 200),
        };
        best = best.max(rate);
    }
    let size = monitor.size();
    let states = size.states.map_or("-".into(), |n| n.to_string());
    let form = format!("{:?}", size.form);
    println!(
        "{name:<44} {form:<8} {states:>7} {:>7} {:>5} {:>9} {best:>9.1} {floor:>6.0} {}",
        size.letters,
        size.bits,
        size.bytes,
        if best >= floor { "ok" } else { "SLOW" }
    );
    best >= floor
}

fn main() {
    let ahead = Options::default();
    let not_ahead = Options { limits: Limits { table: 0, ..Limits::default() }, ..ahead };
    let doubt = |options| Options { unknown: u64::MAX, ..options };
    println!(
        "{:<44} {:<8} {:>7} {:>7} {:>5} {:>9} {:>9} {:>6}",
        "monitor", "form", "states", "letters", "bits", "bytes", "M steps/s", "floor"
    );
    let compiled = [
        ("past, 10 operators, 4 atoms", past(&past_few_atoms(), &ahead), 4, 50.0),
        ("past, 10 operators, 4 atoms, evaluated", past(&past_few_atoms(), &not_ahead), 4, 50.0),
        ("past, 10 operators deep, 6 atoms", past(&past_deep(), &ahead), 6, 50.0),
        ("past, 10 operators deep, 6 atoms, evaluated", past(&past_deep(), &not_ahead), 6, 50.0),
        ("past, 20 operators, 11 atoms", past(&past_many_atoms(), &ahead), 11, 25.0),
        ("past, 10 operators, atoms may be unknown", past(&past_few_atoms(), &doubt(ahead)), 4, 50.0),
        ("past, the same, evaluated", past(&past_few_atoms(), &doubt(not_ahead)), 4, 25.0),
        ("future, always(p -> eventually q)", future(&response(0, 1), &ahead), 2, 20.0),
        ("future, three conjuncts, 9 atoms", future(&three_conjuncts(), &ahead), 9, 20.0),
        ("future, three conjuncts, lazy", future(&three_conjuncts(), &not_ahead), 9, 20.0),
        ("ere, & and ~, 6 atoms", ere(&pattern(), EreMode::Never, &ahead), 6, 20.0),
        ("ere, the same, lazy", ere(&pattern(), EreMode::Never, &not_ahead), 6, 20.0),
    ];
    let mut fine = true;
    for (name, monitor, atoms, floor) in &compiled {
        match monitor {
            Ok(monitor) => fine &= measure(name, monitor, *atoms, *floor),
            Err(error) => {
                println!("{name}: {error}");
                fine = false;
            }
        }
    }
    println!(
        "{}",
        if fine { "all at or above their floors" } else { "some below their floors (is the machine loaded?)" }
    );
}
