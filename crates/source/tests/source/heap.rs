//! Blocks of the heap are called by who receives them.

use crate::build::{Folder, compilers};
use source::{Heap, Made};
use std::time::{Duration, SystemTime};

const C: &str = r#"
#include <stdlib.h>
struct queue { int head; long lock[5]; struct { int count; } in; };
struct pool { struct queue *queue; long done; };
typedef struct { long first, second; } pair_t;
/* gcc says nothing of a type that only `sizeof` names. */
pair_t a_pair;
static struct queue *spare;
int *numbers;
void *anything(unsigned long size) {
    void *block = malloc(size);
    return block;
}
struct pool *make(int more) {
    struct pool *pool = malloc(sizeof *pool);
    pool->queue = (struct queue *)calloc(1,
                                         sizeof(struct queue));
    spare = malloc(sizeof(struct queue));
    numbers = malloc(more * sizeof(int));
    struct queue *all = calloc(3, sizeof *all);
    void *two[2] = { malloc(8), malloc(8) };
    *two = malloc(sizeof(pair_t));
    return pool + (two[1] != all);
}
int main(int argc, char **argv) { return make(argc) == anything(8); }
"#;

const CPP: &str = r#"
#include <memory>
namespace shop {
struct Base { virtual ~Base() = default; long kind = 0; };
struct Till : Base { int coins[4]; long *first; Till() { first = new long(3); } };
}
long use(void *) { return 1; }
int main() {
    shop::Base *base = new shop::Till();
    auto till = std::make_unique<shop::Till>();
    return use(base) + use(till.get());
}
"#;

/// What a finding would call this place in a block, by where the block was made.
fn named(heap: &mut Heap, file: &str, of: &str, part: &str, size: u64, offset: u64) -> String {
    let text = std::fs::read_to_string(file).expect("the source");
    let line = 1 + text.lines().position(|line| line.contains(part)).expect("a line") as u32;
    heap.called(Made { function: of, file, line, size }, offset).unwrap_or_default()
}

#[test]
fn blocks_of_c_are_called_by_who_receives_them() {
    let folder = Folder::new();
    let source = folder.write("src/prog.c", C).to_string_lossy().into_owned();
    for compiler in compilers(false) {
        for flags in ["-O0 -gdwarf-4", "-O2 -gdwarf-5"] {
            folder.tool(&format!("{compiler} {flags} src/prog.c -o prog"));
            let mut heap = Heap::new(vec![folder.path("prog")], SystemTime::now());
            for (of, part, size, offset, name) in [
                ("make", "*pool = malloc", 16, 8, "pool->done"),
                ("make", "*pool = malloc", 16, 0, "pool->queue"),
                // Another size than the type's.
                ("make", "*pool = malloc", 24, 8, ""),
                ("make", "pool->queue = ", 56, 0, "pool->queue->head"),
                ("make", "pool->queue = ", 56, 16, "pool->queue->lock[1]"),
                ("make", "pool->queue = ", 56, 48, "pool->queue->in.count"),
                ("make", "spare = malloc", 56, 8, "spare->lock[0]"),
                ("make", "numbers = malloc", 40, 36, "numbers[9]"),
                ("make", "numbers = malloc", 40, 38, ""),
                ("make", "numbers = malloc", 4, 0, "(*numbers)"),
                ("make", "*all = calloc", 168, 112, "all[2].head"),
                ("make", "malloc(8), malloc(8)", 8, 0, ""),
                ("make", "*two = malloc", 16, 8, "pair_t.second"),
                ("anything", "*block = malloc", 56, 0, ""),
                ("nobody", "*pool = malloc", 16, 8, ""),
            ] {
                assert_eq!(
                    named(&mut heap, &source, of, part, size, offset),
                    name,
                    "{compiler} {flags} {part} {offset}"
                );
            }
        }
    }
}

#[test]
fn blocks_of_cpp_are_of_the_type_that_is_made() {
    let folder = Folder::new();
    let source = folder.write("prog.cc", CPP).to_string_lossy().into_owned();
    for compiler in compilers(true) {
        folder.tool(&format!("{compiler} -std=c++17 -O0 -g prog.cc -o prog"));
        let mut heap = Heap::new(vec![folder.path("prog")], SystemTime::now());
        for (of, part, size, offset, name) in
            [("main", "new shop::Till", 40, 20, "base->coins[1]"), ("main", "make_unique", 40, 32, "shop::Till.first")]
        {
            assert_eq!(named(&mut heap, &source, of, part, size, offset), name, "{compiler} {part} {offset}");
        }
    }
}

/// A source or a program that was changed since says nothing of the run.
#[test]
fn what_is_newer_names_nothing() {
    let folder = Folder::new();
    let source = folder.write("prog.c", C).to_string_lossy().into_owned();
    folder.tool("gcc -g prog.c -o prog");
    let hour = Duration::from_secs(3600);
    let called =
        |recorded| named(&mut Heap::new(vec![folder.path("prog")], recorded), &source, "make", "*pool = malloc", 16, 8);
    assert_eq!(called(SystemTime::now()), "pool->done");
    assert_eq!(called(SystemTime::now() - hour), "");
    let file = std::fs::File::options().append(true).open(&source).expect("the source");
    file.set_modified(SystemTime::now() + hour).expect("a later time");
    assert_eq!(called(SystemTime::now()), "");
}
