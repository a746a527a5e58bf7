//! What the tests share: runs from text, cycles as text, random numbers.

use detect::lock_order::{LockCycle, LockOrder, LockOrderOptions, LockOrderReport};
use event::{Batch, Names};
use trace::Trace;
use trace::text::TextReader;

pub(crate) fn read(text: &str) -> Trace {
    Trace::read(&mut TextReader::new(std::io::Cursor::new(text.to_owned().into_bytes()))).expect("a trace")
}

pub(crate) fn run(names: &Names, batch: &Batch, options: LockOrderOptions) -> LockOrderReport {
    let mut detector = LockOrder::new(options);
    detector.batch(names, batch);
    detector.finish()
}

/// `T1 L3>L4 5, T2 L4>L3 18`: thread, lock held, lock asked for, and where.
pub(crate) fn show(names: &Names, cycle: &LockCycle) -> String {
    let one = |request: &detect::lock_order::LockRequest| {
        let (thread, held, lock) = (names.thread(request.thread), request.holder().lock, request.lock);
        format!("{thread} {}>{} {}", names.lock(held), names.lock(lock), names.site(request.site))
    };
    cycle.requests.iter().map(one).collect::<Vec<_>>().join(", ")
}

#[track_caller]
pub(crate) fn check(text: &str, expected: &[&str]) {
    let trace = read(text);
    let report = run(&trace.names, &trace.batch, LockOrderOptions::default());
    assert!(report.complete && report.left_out == 0 && report.unrecorded == 0, "{report:?}");
    let found: Vec<String> = report.cycles.iter().map(|cycle| show(&trace.names, cycle)).collect();
    assert_eq!(found, expected);
}

/// xorshift64*.
pub(crate) struct Random(pub(crate) u64);

impl Random {
    pub(crate) fn below(&mut self, n: u32) -> u32 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        ((u128::from(self.0.wrapping_mul(0x2545_F491_4F6C_DD1D)) * u128::from(n)) >> 64) as u32
    }
}
