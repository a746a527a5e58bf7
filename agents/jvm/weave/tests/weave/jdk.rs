//! Every class of the JDK comes out as it went in, even if the layout of its code is computed with nothing woven in.

use crate::{classes, tool};
use std::borrow::Cow;
use weave::{Class, Code};

#[test]
fn what_nothing_changes_is_the_same() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let said = tool("java", &["-XshowSettings:properties", "-version"], folder.path()).stderr;
    let said = String::from_utf8_lossy(&said);
    let home = said.lines().find_map(|line| line.trim().strip_prefix("java.home = ")).expect("it says so");
    tool("jimage", &["extract", "--dir", "classes", &format!("{home}/lib/modules")], folder.path());
    let (mut count, mut methods) = (0, 0);
    for path in classes(folder.path()) {
        let file = std::fs::read(&path).expect("readable");
        let mut class = Class::read(&file).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        assert!(class.write().as_ref() == Ok(&file), "{} differs", path.display());
        count += 1;
        for number in 0..class.methods.len() {
            for attribute in class.methods[number].attributes.clone() {
                let Cow::Borrowed(content) = attribute.content else { unreachable!("nothing has changed it") };
                if class.constants.text(attribute.name) == Ok(b"Code") {
                    let code = Code::read(content).and_then(|code| code.write(&mut class.constants));
                    assert!(code.as_deref() == Ok(content), "{}: method {number}: {code:?}", path.display());
                    methods += 1;
                }
            }
        }
    }
    println!("{count} classes, {methods} methods");
    assert!(count > 10_000 && methods > 100_000);
}
