//! Which file lies where.

use crate::build::{Folder, SHOW, run};
use crate::frames::PROGRAM;
use source::{ModuleId, maps};
use std::path::Path;

#[test]
fn addresses_of_files_that_cannot_be_read_count_from_where_they_begin() {
    let text = "\
5000-6000 r--p 00000000 08:01 1   /no/such/prog
6000-8000 r-xp 00001000 08:01 1   /no/such/prog
8000-9000 rw-p 00000000 00:00 0
a000-b000 rw-p 00000000 00:00 0   [heap]
c000-d000 r--p 00000000 08:01 2   /no/such/with blanks.so (deleted)
f000-10000 r-xp 00000000 00:00 0  [vdso]
garbage
11000-10000 r-xp 0 0 0 /backwards
";
    let modules = maps::parse(text);
    let paths: Vec<&Path> = modules.list().iter().map(|m| m.path.as_path()).collect();
    assert_eq!(paths, [Path::new("/no/such/prog"), Path::new("/no/such/with blanks.so"), Path::new("[vdso]")]);
    assert_eq!(modules.find(0x6123), Some((ModuleId(0), 0x1123)));
    assert_eq!(modules.find(0x7fff), Some((ModuleId(0), 0x2fff)));
    assert_eq!(modules.find(0x8000), None);
    assert_eq!(modules.find(0xa000), None);
    assert_eq!(modules.find(0xcfff), Some((ModuleId(1), 0xfff)));
    assert_eq!(modules.find(0x4fff), None);
    assert_eq!(modules.find(u64::MAX), None);
}

#[test]
fn what_is_loaded_later_takes_the_place_of_what_was_unloaded() {
    let mut modules = maps::parse("5000-9000 r-xp 0 08:01 1 /one.so\n");
    modules.add("5000-9000 r-xp 0 08:01 1 /one.so\na000-b000 r-xp 0 08:01 2 /two.so\n");
    assert_eq!(modules.list().len(), 2);
    modules.add("6000-7000 r-xp 0 08:01 3 /three.so\n");
    assert_eq!(modules.find(0x5000).map(|(id, _)| id), Some(ModuleId(0)));
    assert_eq!(modules.find(0x6000), Some((ModuleId(2), 0)));
    assert_eq!(modules.find(0x7000), Some((ModuleId(0), 0x2000)));
    assert_eq!(modules.find(0xa010), Some((ModuleId(1), 0x10)));
}

#[test]
fn the_program_comes_first_and_every_module_is_one() {
    let folder = Folder::new();
    folder.write("show.h", SHOW);
    folder.write("prog.c", PROGRAM);
    for flags in ["", "-no-pie", "-Wl,-z,noseparate-code", "-Wl,-z,norelro", "-static-pie"] {
        folder.tool(&format!("gcc -O1 -g {flags} prog.c -o prog"));
        let modules = run(&folder.path("prog")).modules;
        assert_eq!(modules.list()[0].path, folder.path("prog"), "{flags}");
        let same = |m: &&source::Module| modules.list().iter().filter(|o| o.path == m.path).count() == 1;
        assert!(modules.list().iter().all(|m| same(&m)), "{flags} {:?}", modules.list());
        if flags == "-no-pie" {
            assert_eq!(modules.list()[0].base, 0);
        }
    }
}
