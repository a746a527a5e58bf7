//! Damaged class files give errors: no panic, no endless loop.

use crate::random::Random;
use crate::{classes, compiled};
use weave::{Class, weave};

#[test]
fn damaged_files_give_errors() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    compiled(folder.path());
    let mut random = Random::new();
    let (mut wrong, mut all) = (0, 0);
    for path in classes(folder.path()) {
        let file = std::fs::read(&path).expect("readable");
        for size in 0..file.len() {
            assert!(Class::read(&file[..size]).is_err(), "{} of {} bytes", size, file.len());
        }
        for _ in 0..20_000 {
            let mut file = file.clone();
            for _ in 0..1 + random.below(4) {
                let at = random.below(file.len());
                file[at] = random.byte();
            }
            wrong += usize::from(weave(&file, random.below(100_000) as u32, &()).is_err());
            all += 1;
        }
    }
    println!("{wrong} of {all} were errors");
    assert!(wrong > all / 10);
}
