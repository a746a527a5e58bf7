//! Compiles small programs into a folder of their own, and runs them.

use source::Modules;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicU32, Ordering};

/// A folder that goes away with its test.
pub(crate) struct Folder(pub(crate) PathBuf);

impl Folder {
    pub(crate) fn new() -> Folder {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        let name = format!("foretrace-source-{}-{}", std::process::id(), NEXT.fetch_add(1, Ordering::Relaxed));
        let path = std::env::temp_dir().join(name);
        std::fs::create_dir_all(&path).expect("a folder for the test");
        Folder(path)
    }

    pub(crate) fn write(&self, name: &str, text: &str) -> PathBuf {
        let path = self.0.join(name);
        if let Some(parent) = path.parent() {
            std::fs::create_dir_all(parent).expect("a folder");
        }
        std::fs::write(&path, text).expect("a file is written");
        path
    }

    /// Runs a compiler or another tool in the folder, with arguments separated by blanks.
    pub(crate) fn tool(&self, command: &str) {
        let mut words = command.split_whitespace();
        let mut tool = Command::new(words.next().expect("a tool"));
        let out = tool.args(words).current_dir(&self.0).output().unwrap_or_else(|e| panic!("{command}: {e}"));
        assert!(out.status.success(), "{command}\n{}", String::from_utf8_lossy(&out.stderr));
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.0.join(name)
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// The compilers there are: gcc always, clang if it is installed.
pub(crate) fn compilers(cpp: bool) -> Vec<&'static str> {
    let (gcc, clang) = if cpp { ("g++", "clang++") } else { ("gcc", "clang") };
    let there = Command::new(clang).arg("--version").output().is_ok_and(|out| out.status.success());
    if there { vec![gcc, clang] } else { vec![gcc] }
}

/// What a program of these tests said about itself.
pub(crate) struct Printed {
    pub(crate) at: BTreeMap<String, u64>,
    pub(crate) modules: Modules,
}

impl Printed {
    pub(crate) fn address(&self, name: &str) -> u64 {
        *self.at.get(name).unwrap_or_else(|| panic!("the program prints no {name}"))
    }
}

/// Runs a program that prints lines `name 0xaddress`, then a line `maps`, then its maps.
pub(crate) fn run(path: &Path) -> Printed {
    let out = Command::new(path).output().expect("the program runs");
    assert!(out.status.success(), "{}: {:?}", path.display(), out.status);
    let text = String::from_utf8(out.stdout).expect("text");
    let (printed, maps) = text.split_once("maps\n").expect("maps");
    let mut at = BTreeMap::new();
    for line in printed.lines() {
        let (name, address) = line.rsplit_once(" 0x").expect("a name and an address");
        at.insert(name.to_owned(), u64::from_str_radix(address, 16).expect("an address"));
    }
    Printed { at, modules: source::maps::parse(maps) }
}

/// How the programs print their addresses.
pub(crate) const SHOW: &str = r#"
#include <stdio.h>
static void show(const char *name, const volatile void *at) { printf("%s 0x%lx\n", name, (unsigned long)at); }
static void show_maps(void) {
    FILE *maps = fopen("/proc/self/maps", "r");
    int c;
    puts("maps");
    while ((c = getc(maps)) != EOF) putchar(c);
    fclose(maps);
}
"#;

/// The line of a source on which a marker stands.
pub(crate) fn line_of(source: &str, marker: &str) -> u32 {
    let found: Vec<usize> = (1..).zip(source.lines()).filter(|(_, l)| l.contains(marker)).map(|(n, _)| n).collect();
    assert_eq!(found.len(), 1, "{marker} stands once");
    found[0] as u32
}
