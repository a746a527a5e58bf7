//! A thousand addresses are named in a fifth of a second, files opened and all.

use crate::build::{Folder, SHOW};
use crate::oracle::{PROGRAM, code};
use source::Symbolizer;
use std::time::{Duration, Instant};

#[test]
fn a_thousand_addresses_take_a_fifth_of_a_second() {
    let folder = Folder::new();
    folder.write("show.h", SHOW);
    folder.write("prog.cpp", PROGRAM);
    folder.tool("g++ -O1 -g -pthread prog.cpp -o prog");
    let path = folder.path("prog");
    let all = code(&path, 1);
    let addresses: Vec<u64> = all.iter().step_by(all.len() / 1000).take(1000).copied().collect();
    assert_eq!(addresses.len(), 1000);
    // Another test may be using the machine: the best of a few counts.
    let once = || {
        let start = Instant::now();
        let mut modules = source::Modules::default();
        modules.insert(&path, 0, 0, u64::MAX);
        let mut symbolizer = Symbolizer::new(modules);
        let frames: usize = addresses.iter().map(|a| symbolizer.frames(*a).len()).sum();
        assert!(frames > 1000);
        start.elapsed()
    };
    let best = (0..5).map(|_| once()).min().unwrap_or(Duration::MAX);
    println!("1 000 addresses: {best:?}");
    assert!(best < Duration::from_millis(200), "{best:?}");
}
