//! Gives a `Thread` class the agent's field: `thread IN OUT`.

fn main() {
    let paths: Vec<_> = std::env::args_os().skip(1).collect();
    let [from, to] = &paths[..] else { panic!("thread IN OUT") };
    let file = std::fs::read(from).expect("a class file");
    std::fs::write(to, weave::thread(&file, true, false).expect("a class")).expect("writable");
}
