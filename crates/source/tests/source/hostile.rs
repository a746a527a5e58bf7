//! Damaged and hostile files: no panic, no hang, no memory without end.

use crate::build::{Folder, SHOW};
use crate::objects::{C, CPP};
use source::{Binder, Modules, Symbolizer, kind};
use std::path::Path;
use std::time::{Duration, Instant};

/// Asks everything there is to ask.
fn ask(path: &Path) -> usize {
    let mut known = 0;
    let _ = kind(path);
    let mut modules = Modules::default();
    modules.insert(path, 0, 0, u64::MAX);
    let mut symbolizer = Symbolizer::new(modules);
    for address in (0x1000..0x6000).step_by(61) {
        known += symbolizer.frames(address).len();
        known += usize::from(symbolizer.object_at(address).is_some());
    }
    let start = path.display();
    let _ = source::maps::parse(&format!("1000-3000 r--p 0 0 0 {start}\n3000-5000 rw-p 2000 0 0 {start}\n"));
    if let Ok(mut binder) = Binder::open(path) {
        for name in ["landing", "table[3].count", "account.low", "ns::Class::member", "nothing", "four[2]"] {
            known += usize::from(binder.variable(name).is_ok());
        }
        known += usize::from(binder.function("main").is_ok());
    }
    known
}

struct Random(u64);

impl Random {
    fn below(&mut self, n: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 % n.max(1) as u64) as usize
    }
}

#[test]
fn damaged_files_give_errors_or_poorer_names() {
    let folder = Folder::new();
    folder.write("show.h", SHOW);
    folder.write("prog.c", C);
    folder.write("prog.cpp", CPP);
    folder.tool("gcc -O1 -gdwarf-5 -pthread prog.c -o five");
    folder.tool("gcc -O1 -gdwarf-4 -pthread prog.c -o four");
    folder.tool("g++ -O1 -g -gz=zlib prog.cpp -o packed");
    let cases: usize = std::env::var("FORETRACE_CASES").ok().and_then(|n| n.parse().ok()).unwrap_or(120);
    let mut random = Random(0x5eed);
    for name in ["five", "four", "packed"] {
        let whole = std::fs::read(folder.path(name)).expect("a program");
        assert!(ask(&folder.path(name)) > 100, "{name}");
        let bad = folder.path("bad");
        for case in 0..cases {
            let mut bytes = whole.clone();
            match case % 4 {
                // Anywhere, often in the debug information, which is the second half.
                0 => (0..1 + random.below(8)).for_each(|_| {
                    let at = random.below(bytes.len());
                    bytes[at] = random.below(256) as u8;
                }),
                1 => (0..1 + random.below(200)).for_each(|_| {
                    let at = bytes.len() / 3 + random.below(bytes.len() - bytes.len() / 3);
                    bytes[at] = [0, 1, 0x7f, 0x80, 0xff, random.below(256) as u8][random.below(6)];
                }),
                // In the headers of the file and of its sections.
                2 => (0..1 + random.below(4)).for_each(|_| {
                    let at =
                        if random.below(2) == 0 { random.below(1000) } else { bytes.len() - 1 - random.below(2500) };
                    bytes[at] = random.below(256) as u8;
                }),
                _ => bytes.truncate(random.below(whole.len())),
            }
            std::fs::write(&bad, &bytes).expect("written");
            let start = Instant::now();
            ask(&bad);
            let took = start.elapsed();
            assert!(took < Duration::from_secs(20), "{name}, case {case}: {took:?}");
        }
    }
}

/// Assembles debug information that no compiler would write, beside a function at an address.
fn assemble(folder: &Folder, info: &str, abbreviations: &str) {
    let text = format!(
        ".text\n.globl main\nmain: xor %eax, %eax\n ret\n.space 64\nend:\n\
         .section .debug_info,\"\",@progbits\n{info}\n.section .debug_abbrev,\"\",@progbits\n{abbreviations}\n"
    );
    folder.write("bad.s", &text);
    folder.tool("gcc -no-pie bad.s -o bad");
}

fn quick(folder: &Folder) {
    let path = folder.path("bad");
    let start = Instant::now();
    let mut modules = Modules::default();
    modules.insert(&path, 0, 0, u64::MAX);
    let mut symbolizer = Symbolizer::new(modules);
    for address in (0x400000..0x402000).step_by(16) {
        assert!(!symbolizer.frames(address).is_empty());
        let _ = symbolizer.object_at(address);
    }
    let mut binder = Binder::open(&path).expect("a program");
    let _ = binder.variable("nothing");
    let _ = binder.function("nothing");
    let took = start.elapsed();
    assert!(took < Duration::from_secs(20), "{took:?}");
}

/// A unit with a root that covers `main`, whose children are `inside`.
fn unit(inside: &str) -> String {
    format!("1: .long 3f - 2f\n2: .short 4\n.long 0\n.byte 8\n.uleb128 1\n.quad main\n.quad 64\n{inside}\n3:\n")
}

/// Abbreviation 1: a unit with `low_pc` and `high_pc`.
const ROOT: &str = ".uleb128 1, 0x11\n.byte 1\n.uleb128 0x11, 1\n.uleb128 0x12, 7\n.uleb128 0, 0\n";

#[test]
fn calls_inlined_a_million_times_over_do_not_overflow_the_stack() {
    let folder = Folder::new();
    let function = ".uleb128 2, 0x2e\n.byte 1\n.uleb128 0x11, 1\n.uleb128 0x12, 7\n.uleb128 0, 0\n";
    let inlined = ".uleb128 3, 0x1d\n.byte 1\n.uleb128 0, 0\n";
    let inside = ".uleb128 2\n.quad main\n.quad 64\n.rept 1000000\n.uleb128 3\n.endr\n";
    assemble(&folder, &unit(inside), &format!("{ROOT}{function}{inlined}.uleb128 0\n"));
    quick(&folder);
}

#[test]
fn scopes_in_each_other_without_end_stay_bounded() {
    let folder = Folder::new();
    let scope = ".uleb128 2, 0x39\n.byte 1\n.uleb128 0x03, 8\n.uleb128 0, 0\n";
    let inside = ".rept 300000\n.uleb128 2\n.asciz \"abcdefgh\"\n.endr\n";
    assemble(&folder, &unit(inside), &format!("{ROOT}{scope}.uleb128 0\n"));
    quick(&folder);
}

#[test]
fn attributes_without_bytes_do_not_square_the_work() {
    let folder = Folder::new();
    // Each of many entries of one byte has very many attributes that take no byte at all.
    let entry = ".uleb128 2, 0x2e\n.byte 0\n.rept 50000\n.uleb128 0x3f, 0x19\n.endr\n.uleb128 0, 0\n";
    let inside = ".rept 1000000\n.uleb128 2\n.endr\n";
    assemble(&folder, &unit(inside), &format!("{ROOT}{entry}.uleb128 0\n"));
    quick(&folder);
}

#[test]
fn abbreviations_that_overlap_are_refused() {
    let folder = Folder::new();
    // Many units, each with a table that begins a little later in the same bytes.
    let mut info = String::new();
    for k in 0..20_000 {
        info.push_str(&format!(".long 4f - 3f\n3: .short 4\n.long {}\n.byte 8\n.uleb128 1\n4:\n", k * 5));
    }
    let table = ".rept 200000\n.uleb128 1, 0x11\n.byte 0\n.uleb128 0, 0\n.endr\n";
    assemble(&folder, &info, table);
    quick(&folder);
}

#[test]
fn a_pipe_is_not_waited_for() {
    let folder = Folder::new();
    folder.tool("mkfifo pipe");
    let start = Instant::now();
    ask(&folder.path("pipe"));
    assert!(start.elapsed() < Duration::from_secs(5));
}
