//! Every address of a program's code, against binutils' `addr2line`.

use crate::build::{Folder, SHOW, compilers};
use source::{Symbolizer, demangle};
use std::io::Write;
use std::path::Path;
use std::process::{Command, Stdio};

pub(crate) const PROGRAM: &str = r#"
#include "show.h"
#include <vector>
#include <map>
#include <string>
#include <algorithm>
#include <thread>
#include <mutex>
std::mutex mutex;
std::map<std::string, std::vector<int>> table;
static inline int twice(int x) { return x + x; }
static inline int four(int x) { return twice(twice(x)); }
template <class T> T largest(const std::vector<T> &all) { return *std::max_element(all.begin(), all.end()); }
void work(int n) {
    std::lock_guard<std::mutex> guard(mutex);
    for (int k = 0; k < n; k++) table[std::to_string(k % 7)].push_back(four(k));
}
int main(int argc, char **) {
    std::thread one(work, 10 * argc), two([&] { work(20 * argc); });
    one.join(); two.join();
    int sum = 0;
    for (auto &[name, all] : table) { std::sort(all.begin(), all.end()); sum += largest(all); }
    printf("%d\n", sum);
}
"#;

/// The addresses of `.text`, one in `step`.
pub(crate) fn code(path: &Path, step: usize) -> Vec<u64> {
    let out = Command::new("readelf").arg("-SW").arg(path).output().expect("readelf runs");
    let text = String::from_utf8_lossy(&out.stdout).into_owned();
    let line = text.lines().find(|l| l.contains(" .text ")).expect("a .text");
    let fields: Vec<&str> = line.split(']').nth(1).expect("fields").split_whitespace().collect();
    let number = |k: usize| u64::from_str_radix(fields[k], 16).expect("a number");
    (number(2)..number(2) + number(4)).step_by(step).collect()
}

/// What `addr2line -fi` says: frames of function and `file:line`, for each address.
fn addr2line(path: &Path, addresses: &[u64]) -> Vec<Vec<(String, String)>> {
    let mut tool = Command::new("addr2line");
    tool.args(["-a", "-f", "-i", "-e"]).arg(path).stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut child = tool.spawn().expect("addr2line runs");
    let mut input = child.stdin.take().expect("a pipe");
    let asked: String = addresses.iter().map(|a| format!("{a:#x}\n")).collect();
    let writer = std::thread::spawn(move || input.write_all(asked.as_bytes()));
    let out = child.wait_with_output().expect("addr2line ends");
    writer.join().expect("no panic").expect("all is written");
    let text = String::from_utf8_lossy(&out.stdout).into_owned();
    let mut all: Vec<Vec<(String, String)>> = Vec::new();
    let mut lines = text.lines().peekable();
    while let Some(line) = lines.next() {
        assert!(line.starts_with("0x"), "{line}");
        let mut frames = Vec::new();
        while lines.peek().is_some_and(|l| !l.starts_with("0x")) {
            let function = lines.next().expect("a function").to_owned();
            let place = lines.next().expect("a place");
            frames.push((function, place.split(" (disc").next().unwrap_or(place).to_owned()));
        }
        all.push(frames);
    }
    all
}

/// A function's own name, without its scope and template arguments.
fn last(name: &str) -> String {
    let mut depth = 0;
    let mut plain = String::new();
    for c in name.chars() {
        depth += i32::from(c == '<');
        if depth == 0 {
            plain.push(c);
        }
        depth -= i32::from(c == '>');
    }
    plain.rsplit("::").next().unwrap_or_default().to_owned()
}

#[test]
fn every_address_is_where_addr2line_finds_it() {
    let folder = Folder::new();
    folder.write("show.h", SHOW);
    folder.write("prog.cpp", PROGRAM);
    for compiler in compilers(true) {
        for flags in ["-O2 -gdwarf-4", "-O2 -gdwarf-5", "-O1 -gdwarf-4 -no-pie"] {
            if compiler == "clang++" && flags.contains("dwarf-5") {
                // Older binutils do not understand how clang writes the ranges of inlined code there.
                continue;
            }
            folder.tool(&format!("{compiler} {flags} -pthread prog.cpp -o prog"));
            let path = folder.path("prog");
            let addresses = code(&path, 3);
            let expected = addr2line(&path, &addresses);
            assert_eq!(expected.len(), addresses.len());
            let mut modules = source::Modules::default();
            modules.insert(&path, 0, 0, u64::MAX);
            let mut symbolizer = Symbolizer::new(modules);
            let (mut same, mut different) = (0, Vec::new());
            for (address, expected) in addresses.iter().zip(&expected) {
                let frames = symbolizer.frames(address + 1);
                let own: Vec<(String, u32)> = frames.iter().map(|f| (f.function.clone(), f.line)).collect();
                let theirs: Vec<(String, u32)> = expected
                    .iter()
                    .map(|(function, place)| {
                        let line = place.rsplit(':').next().and_then(|n| n.parse().ok()).unwrap_or(0);
                        (demangle(function), line)
                    })
                    .collect();
                // Where a function has no mangled name, binutils may show the symbol around it instead.
                let symbol = |k: usize| own.last().is_some_and(|last| last.0 == theirs[k].0);
                // A constructor has none either, and they do not show its class.
                // What cannot be demangled has its plain name with us.
                let mangled = |k: usize| theirs[k].0.starts_with("_Z");
                let equal = |k: usize| {
                    (own[k].1 == theirs[k].1 || theirs[k].1 == 0)
                        && (last(&own[k].0) == last(&theirs[k].0) || symbol(k) || mangled(k))
                };
                // Between functions it shows the one before.
                let between = own.len() == 1 && own[0].0.starts_with("prog+");
                if between || own.len() == theirs.len() && (0..own.len()).all(equal) {
                    same += 1;
                } else {
                    different.push(format!("{address:#x}\n  ours   {own:?}\n  theirs {theirs:?}"));
                }
            }
            let shown = different.iter().take(5).cloned().collect::<Vec<_>>().join("\n");
            // They differ where one of both shows a line for code that is of no line.
            assert!(different.len() * 50 < same, "{compiler} {flags}: {} of {same}\n{shown}", different.len());
        }
    }
}
