//! Equal options give equal traces, for ever: stored hashes notice any change of a single event or name.

use event::{Batch, Space, Value};
use generate::{Generator, Options};
use trace::Source;

/// Fowler, Noll and Vo's hash, variant 1a, 64 bits.
struct Fnv(u64);

impl Fnv {
    fn bytes(&mut self, bytes: &[u8]) {
        for &b in bytes {
            self.0 = (self.0 ^ u64::from(b)).wrapping_mul(0x0000_0100_0000_01B3);
        }
    }

    fn number(&mut self, n: u64) {
        self.bytes(&n.to_le_bytes());
    }

    fn value(&mut self, value: Value) {
        let (kind, bits) = match value {
            Value::Unknown => (0, 0),
            Value::Bool(b) => (1, u64::from(b)),
            Value::Int(i) => (2, i as u64),
            Value::Real(r) => (3, r.to_bits()),
            Value::Str(s) => (4, u64::from(s.0)),
        };
        self.number(kind);
        self.number(bits);
    }
}

fn fingerprint(options: Options) -> u64 {
    let mut generator = Generator::new(options).expect("these options make sense");
    let mut hash = Fnv(0xCBF2_9CE4_8422_2325);
    let mut batch = Batch::default();
    while generator.next_batch(&mut batch).expect("a generator does not fail") {
        for init in &batch.inits {
            hash.number(u64::from(init.name.0));
            hash.value(init.value);
        }
        for &event in &batch.events {
            let extra = batch.extra(event);
            for n in [event.thread().0, event.op() as u32, event.object(), event.site().0, extra.lock.0] {
                hash.number(u64::from(n));
            }
            hash.bytes(&[extra.order as u8, extra.wake as u8]);
            hash.value(extra.value);
            for &arg in batch.args(event) {
                hash.value(arg);
            }
        }
    }
    for space in Space::ALL {
        for number in 0..generator.names().space(space).len() as u32 {
            hash.bytes(generator.names().get(space, number).as_bytes());
            hash.bytes(&[0xFF]);
        }
    }
    hash.0
}

fn base() -> Options {
    Options { events: 100_000, ..Options::default() }
}

#[test]
fn the_traces_are_the_ones_they_always_were() {
    let pinned: [(&str, Options, u64); 8] = [
        ("default", base(), 0x4A23_6163_7983_8771),
        ("seed", Options { seed: 2, ..base() }, 0xB1FF_6FE5_0576_855B),
        ("txn", Options { txn: true, viol: Some(50_000), ..base() }, 0x4B29_76CA_B99A_F785),
        ("values", Options { values: true, threads: 3, vars: 500, ..base() }, 0x8C96_564B_20F6_4454),
        ("readers and waits", Options { readers: 0.3, waits: 0.2, ..base() }, 0xF585_5418_91FE_214E),
        ("churn", Options { churn: 0.05, quantum: 5000.0, ..base() }, 0x869E_96E6_F057_0A3A),
        ("all", Options { all_ops: true, values: true, txn: true, churn: 0.01, ..base() }, 0x7E2C_F4FA_2F68_6E3B),
        (
            "watch",
            Options { watch: vec!["a".into(), "b".into()], plant: Some(50_000), ..base() },
            0xAB48_88C4_0906_695E,
        ),
    ];
    let found: Vec<String> =
        pinned.iter().map(|(name, options, _)| format!("{name}: {:#018X}", fingerprint(options.clone()))).collect();
    let expected: Vec<String> = pinned.iter().map(|(name, _, hash)| format!("{name}: {hash:#018X}")).collect();
    assert_eq!(found, expected);
}
