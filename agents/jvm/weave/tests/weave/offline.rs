//! Classes that are woven before they are loaded become at load time what the original would have become, and the
//! original can be restored. Without the agent, they do what they did.

use crate::random::Random;
use crate::{classes, compiled, tool};
use std::borrow::Cow;
use weave::{Class, ClassContext, ClassFilter, OfflineClass, Program, inert, package, weave, weave_offline};

/// A context in which all fields are known, and some are volatile.
struct Some;

impl ClassContext for Some {
    fn field(&self, _: &[u8], name: &[u8], _: &[u8]) -> Option<u16> {
        name.len().is_multiple_of(2).then_some(weave::class::access::VOLATILE)
    }
}

/// Numbers of sites from here on are constants, however a class is woven.
const FIRST: u32 = 1 << 15;

fn same(file: &[u8], context: &dyn ClassContext, what: &str) -> usize {
    let offline = match weave_offline(file, context, &ClassFilter::default()) {
        Ok(woven) => woven,
        Err(error) => panic!("{what}: {error}"),
    };
    let Option::Some(offline) = &offline.file else { return 0 };
    for (first, context) in [(FIRST, context), (1 << 20, context)] {
        let (at_load, now) = (weave(file, first, context).expect(what), OfflineClass::of(offline).expect(what));
        assert!(now.is_current() && now.is_for(&ClassFilter::default()));
        assert!(now.original().as_deref() == Ok(file), "{what}: the original");
        let now = now.woven(first).expect(what);
        assert!(now.file == at_load.file, "{what}: the file");
        assert_eq!((now.info, now.sites, now.skipped), (at_load.info, at_load.sites, at_load.skipped), "{what}");
    }
    // Reflection sees no difference.
    let (was, is) = (Class::read(file).expect(what), Class::read(offline).expect(what));
    assert!(was.parent_name() == is.parent_name() && was.fields.len() == is.fields.len());
    1
}

#[test]
fn loading_gives_what_weaving_then_gives() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    compiled(folder.path());
    let mut count = 0;
    // The class of the hooks is never woven: bridges in it would be taken for hooks.
    for path in classes(&folder.path().join("program")) {
        let file = std::fs::read(&path).expect("readable");
        let name = path.to_string_lossy();
        count += same(&file, &(), &name) + same(&file, &Some, &name);
    }
    assert!(count > 4);
    // Classes of the JDK, which have every construct.
    let said = tool("java", &["-XshowSettings:properties", "-version"], folder.path()).stderr;
    let said = String::from_utf8_lossy(&said);
    let home = said.lines().find_map(|line| line.trim().strip_prefix("java.home = ")).expect("it says so");
    let some = "regex:/java.base/java/util/.*";
    tool("jimage", &["extract", "--dir", "jdk", "--include", some, &format!("{home}/lib/modules")], folder.path());
    for path in classes(&folder.path().join("jdk")) {
        count += same(&std::fs::read(&path).expect("readable"), &(), &path.to_string_lossy());
    }
    println!("{count} classes");
    assert!(count > 1000);
}

#[test]
fn without_the_agent_programs_do_what_they_did() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    compiled(folder.path());
    let files: Vec<_> = classes(&folder.path().join("program"));
    let mut program = Program::default();
    for path in &files {
        program.add(&std::fs::read(path).expect("readable")).expect("a class");
    }
    let woven = folder.path().join("woven");
    std::fs::create_dir(&woven).expect("writable");
    for path in &files {
        let file = std::fs::read(path).expect("readable");
        let offline = program.weave(&file).expect("a class");
        assert_eq!(package(&offline.info.name), b"");
        let file = offline.file.map_or(Cow::Borrowed(&file), Cow::Owned);
        std::fs::write(woven.join(path.file_name().expect("a name")), &*file).expect("writable");
    }
    let (name, file) = inert(b"").expect("a class");
    std::fs::write(woven.join(format!("{}.class", String::from_utf8_lossy(&name))), file).expect("writable");
    let plain = tool("java", &["-cp", "program", "Every"], folder.path());
    let woven = tool("java", &["-Xverify:all", "-cp", "woven", "Every"], folder.path());
    assert_eq!(String::from_utf8_lossy(&woven.stdout), String::from_utf8_lossy(&plain.stdout));
    assert_eq!(String::from_utf8_lossy(&woven.stderr), String::from_utf8_lossy(&plain.stderr));
}

#[test]
fn damaged_attributes_give_errors() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    compiled(folder.path());
    let mut random = Random::new();
    for path in classes(&folder.path().join("program")) {
        let file = std::fs::read(&path).expect("readable");
        let Option::Some(file) = weave_offline(&file, &(), &ClassFilter::default()).expect("a class").file else {
            continue;
        };
        for _ in 0..20_000 {
            let mut file = file.clone();
            for _ in 0..1 + random.below(4) {
                // Most often near the end, where the trailer is.
                let from = if random.below(2) == 0 { file.len() - file.len().min(40) } else { 0 };
                let at = from + random.below(file.len() - from);
                file[at] = random.byte();
            }
            if let Option::Some(offline) = OfflineClass::of(&file) {
                let _ = offline.original();
                let _ = offline.woven(random.below(100_000) as u32);
            }
        }
    }
}
