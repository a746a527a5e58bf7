//! Damaged class files give errors: no panic, no endless loop.

use crate::{classes, compiled};
use weave::{Class, weave};

#[test]
fn damaged_files_are_told() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    compiled(folder.path());
    let mut seed = 1u64;
    let mut random = |below: usize| {
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (seed >> 33) as usize % below
    };
    let (mut wrong, mut all) = (0, 0);
    for path in classes(folder.path()) {
        let file = std::fs::read(&path).expect("readable");
        for size in 0..file.len() {
            assert!(Class::read(&file[..size]).is_err(), "{} of {} bytes", size, file.len());
        }
        for _ in 0..20_000 {
            let mut file = file.clone();
            for _ in 0..1 + random(4) {
                let at = random(file.len());
                file[at] = if random(2) == 0 { random(256) as u8 } else { [0, 1, 0x7f, 0x80, 0xff][random(5)] };
            }
            wrong += usize::from(weave(&file, random(100_000) as u32, &()).is_err());
            all += 1;
        }
    }
    println!("{wrong} of {all} were errors");
    assert!(wrong > all / 10);
}
