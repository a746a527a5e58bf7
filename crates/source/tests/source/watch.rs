//! How programs can be watched.

use crate::build::{Folder, compilers};
use source::{Watched, kind};

#[test]
fn each_kind_of_program_is_reported_from_the_others() {
    let folder = Folder::new();
    folder.write("prog.c", "int n; int main(void) { return n++; }");
    folder.write("agent.c", "int foretrace_agent_version = 1; void __tsan_init(void) {} int main(void) { return 0; }");
    let of = |name: &str| kind(&folder.path(name)).expect("it is read");
    folder.tool("gcc prog.c -o plain");
    assert_eq!(of("plain"), Watched::Plain);
    folder.tool("gcc -static prog.c -o static");
    assert_eq!(of("static"), Watched::StaticExecutable);
    folder.tool("gcc -static-pie prog.c -o static-pie");
    assert_eq!(of("static-pie"), Watched::StaticExecutable);
    folder.tool("gcc -fsanitize=thread prog.c -o tsan");
    assert_eq!(of("tsan"), Watched::LibtsanDynamic);
    folder.tool("strip tsan");
    assert_eq!(of("tsan"), Watched::LibtsanDynamic);
    folder.tool("gcc -fsanitize=thread -static-libtsan prog.c -o static-tsan");
    assert_eq!(of("static-tsan"), Watched::StaticTsan);
    folder.tool("gcc agent.c -o ours");
    assert_eq!(of("ours"), Watched::ForetraceStatic);
    if compilers(false).contains(&"clang") {
        folder.tool("clang -fsanitize=thread prog.c -o clang");
        assert_eq!(of("clang"), Watched::StaticTsan);
        folder.tool("clang -fsanitize=thread -shared-libsan prog.c -o shared");
        assert_eq!(of("shared"), Watched::ClangDynamic);
    }
    folder.write("script", "#! /bin/sh -e\nexit 0\n");
    assert_eq!(of("script"), Watched::Script { interpreter: "/bin/sh".to_owned() });
    folder.write("text", "hello");
    assert_eq!(of("text"), Watched::NotElf);
    folder.write("empty", "");
    assert_eq!(of("empty"), Watched::NotElf);
    let mut bytes = std::fs::read(folder.path("plain")).expect("a program");
    bytes[18] = 183;
    std::fs::write(folder.path("arm"), &bytes).expect("written");
    assert_eq!(of("arm"), Watched::OtherArchitecture);
    bytes[4] = 1;
    std::fs::write(folder.path("small"), &bytes).expect("written");
    assert_eq!(of("small"), Watched::OtherArchitecture);
    let error = kind(&folder.path("nothing")).expect_err("there is none").to_string();
    assert!(error.contains("nothing"), "{error}");
    let error = kind(&folder.0).expect_err("a folder").to_string();
    assert!(error.contains("not a file"), "{error}");
}
