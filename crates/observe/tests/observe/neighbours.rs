//! Variables that share a word: each has its own name, however many were accessed at once before.

use crate::agent::Agent;
use crate::support::shown;
use observe::{Naming, Symbols};
use runtime::layout::process;
use runtime::record::Kind;
use std::collections::HashMap;
use std::process::Command;

/// Main clears blocks of memory and works in them; the child accesses one half of each word.
pub(crate) fn neighbours() {
    let agent = Agent::start(0);
    agent.maps(0, "1000-2000 r-xp 00000000 00:00 0 /opt/prog\n");
    let mut main = agent.thread();
    main.begin();
    let mut child = agent.thread();
    main.fork(child.slot, 0); // position 1
    main.alloc(0x7000, 64, 0); // 2: no event
    child.begin();
    child.reserve(256);
    // All eight bytes, then the first four: the child reads the second four.
    child.deferred(0x7000, 0xff, (main.slot, 3, 0), true, 0);
    child.deferred(0x7000, 0x0f, (main.slot, 3, 0), true, 1);
    child.sync(Kind::ConflictRead, 0xf0, 0x7000, 0);
    // The access itself was dropped; the child reads a byte.
    child.drop_barrier(0x7008, 0xff, (main.slot, 3), true, 2);
    child.sync(Kind::ConflictRead, 0x10, 0x7008, 0);
    // Two words were written; an atomic access is of a half of the second.
    child.deferred(0x7010, 0xff, (main.slot, 3, 0), true, 3);
    child.deferred(0x7018, 0xff, (main.slot, 3, 0), true, 4);
    child.atomic(Kind::AtomicLoad, 0, 2, 0x701c, 7);
    // Some of it is known.
    child.sync(Kind::ConflictWrite, 0x0f, 0x7020, 0);
    child.deferred(0x7020, 0xff, (main.slot, 3, 0), false, 5);
    child.sync(Kind::ConflictWrite, 0xc0, 0x7020, 0);
    agent.end(process::EXITED);
}

#[test]
fn what_was_accessed_has_its_own_name() {
    let expected = "\
main|fork(T1)|
main|w(heap#1)|
main|w(heap#1+4)|
main|w(heap#1)|
main|pin(heap#1+8,4)|
main|pin(heap#1+12,5)|
main|pin(heap#1+13,6)|
main|w(heap#1+16)|
main|w(heap#1+24)|
main|w(heap#1+28)|
main|r(heap#1+32)|
main|r(heap#1+36)|
main|r(heap#1+38)|
T1|r(heap#1+4)|
T1|r(heap#1+12)|
T1|ald(heap#1+28)=7|
T1|w(heap#1+32)|
T1|w(heap#1+38)|";
    assert_eq!(shown("neighbours"), expected.lines().collect::<Vec<_>>());
}

const C: &str = r#"
#include <stdio.h>
struct settings { int first, second; char open, shut; short width; int last; char *name; }
    settings __attribute__((aligned(8)));
char text[20] __attribute__((aligned(8)));
int numbers[4] __attribute__((aligned(8)));
struct { unsigned low : 3, high : 20; int after; } bits __attribute__((aligned(8)));
struct { char flag; int number; } padded __attribute__((aligned(8)));
struct { char letters[3]; char mark; int count; } mixed __attribute__((aligned(8)));
#define SHOW(x) printf(#x " %p\n", (void *)&x)
int main(void) {
    SHOW(settings); SHOW(text); SHOW(numbers); SHOW(bits); SHOW(padded); SHOW(mixed);
    FILE *maps = fopen("/proc/self/maps", "r");
    puts("maps");
    for (int c; maps && (c = fgetc(maps)) != EOF;) putchar(c);
    return 0;
}
"#;

#[test]
fn parts_of_variables_are_reported_apart_by_their_types() {
    let folder = tempfile::tempdir().expect("a folder");
    let (source, program) = (folder.path().join("prog.c"), folder.path().join("prog"));
    std::fs::write(&source, C).expect("written");
    let built = Command::new("gcc").arg("-g").arg(&source).arg("-o").arg(&program).status().expect("gcc");
    assert!(built.success());
    let out = Command::new(&program).output().expect("it runs").stdout;
    let out = String::from_utf8(out).expect("text");
    let (shown, maps) = out.split_once("maps\n").expect("maps");
    let at: HashMap<&str, u64> = shown
        .lines()
        .map(|line| line.split_once(" 0x").expect("an address"))
        .map(|(name, address)| (name, u64::from_str_radix(address, 16).expect("hexadecimal")))
        .collect();
    let mut symbols = Symbols::default();
    symbols.maps(maps.as_bytes());
    for (variable, offset, cuts) in [
        ("settings", 0, 0b0001_0000),
        ("settings", 8, 0b0001_0110),
        ("settings", 16, 0),
        ("text", 0, 0),
        ("text", 8, 0),
        ("numbers", 8, 0b0001_0000),
        ("bits", 0, 0b0001_0000),
        ("padded", 0, 0b0001_0000),
        ("mixed", 0, 0b0001_1000),
    ] {
        assert_eq!(symbols.cuts(at[variable] + offset), cuts, "{variable}+{offset}");
    }
    assert_eq!(symbols.cuts(0x10), 0);
    for (variable, offset, size, name) in [
        ("settings", 4, 4, "settings.second"),
        ("settings", 9, 1, "settings.shut"),
        ("text", 8, 8, "text[8..15]"),
        ("text", 11, 1, "text[11]"),
        ("numbers", 4, 4, "numbers[1]"),
        ("numbers", 6, 2, "numbers[1]+2"),
        ("mixed", 0, 3, "mixed.letters[0..2]"),
    ] {
        let found = symbols.object(at[variable] + offset, size).map(|object| object.name);
        assert_eq!(found.as_deref(), Some(name), "{variable}+{offset}");
    }
}
