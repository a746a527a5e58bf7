//! Puts blocks into random traces.

use crate::brute::random::{self, Rng};
use std::fmt::Write;

/// A trace with blocks; the site of each event is its index.
pub(crate) fn trace(seed: u64) -> String {
    let mut rng = Rng::new(seed ^ 0xB10C);
    let plain = random::trace(seed, 6 + seed as usize % 40);
    let often = 2 + rng.below(4);
    let mut open = [0; 8];
    let mut text = String::new();
    let mut events = 0;
    let mut put = |text: &mut String, thread: &str, op: &str| {
        writeln!(text, "{thread}|{op}|{events}").expect("a string takes all");
        events += 1;
    };
    for line in plain.lines() {
        let mut parts = line.split('|');
        let (Some(thread), Some(op)) = (parts.next(), parts.next()) else {
            text += &format!("{line}\n");
            continue;
        };
        let open = &mut open[usize::from(thread.as_bytes()[1] - b'0')];
        if !op.starts_with("woken") && rng.below(often) == 0 {
            if *open > 0 && rng.below(3) > 0 {
                put(&mut text, thread, "end");
                *open -= 1;
            } else if *open < 2 {
                put(&mut text, thread, ["begin(a)", "begin(b)", "begin"][rng.below(3)]);
                *open += 1;
            }
        }
        put(&mut text, thread, op);
    }
    text
}
