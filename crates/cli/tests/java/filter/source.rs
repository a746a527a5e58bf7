//! The Java class whose accesses are watched: every kind of access of every variable at many sites, each on a line of
//! its own.

use super::acts::{CLASSES, SITES, VARIABLES, Variable, Way, number_of};
use std::collections::BTreeMap;
use std::fmt::Write;

/// The text of the class, and by line: the way, the variable, the number of the site.
pub(crate) struct Source {
    pub(crate) text: String,
    pub(crate) lines: BTreeMap<usize, (Way, usize, usize)>,
}

const HEAD: &str = r#"
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.concurrent.locks.ReentrantLock;

class Acts {
    static class N { int x; }
    static class M { int x; }
    static class L { }
    static class Q extends Exception { int x; }
    static class P { int x, y, z; volatile int v; N n; M m; volatile N vn; }
    static int x;
    static volatile int v;
    static final VarHandle Z;
    static {
        try {
            Z = MethodHandles.lookup().findVarHandle(P.class, "z", int.class);
        } catch (ReflectiveOperationException failed) {
            throw new AssertionError(failed);
        }
    }
    static Object make(boolean isN) { return isN ? new N() : new M(); }
    static void join(Thread thread) throws Exception { thread.join(); }
    static void lock(ReentrantLock lock, int site) { lock.lock(); }
    static void unlock(ReentrantLock lock, int site) { lock.unlock(); }
    // Its methods are the driver's, but it is watched: calls of other code would keep sections in their order.
    static abstract class Block { abstract void inside(int me, int act) throws Exception; }
    static void sink(int value) { }
    static void hold(Object lock, Block block, int me, int act, int site) throws Exception {
        synchronized (lock) {
            block.inside(me, act);
        }
    }
"#;

fn statement(variable: &Variable, way: Way) -> String {
    let place = variable.java;
    match (way, variable.refers) {
        (Way::Read | Way::Load, Some(_)) => format!("return {place};"),
        (Way::Write | Way::Store, Some(object)) => format!("{place} = ({}) r; return null;", CLASSES[object]),
        _ if way == Way::Read || place.ends_with('v') && way == Way::Load => {
            format!("sink({place}); return null;")
        }
        _ if way == Way::Write || place.ends_with('v') => format!("{place} = i; return null;"),
        (Way::Load, _) => "sink((int) Z.getVolatile(o)); return null;".to_owned(),
        (Way::Store, _) => "Z.setVolatile(o, i); return null;".to_owned(),
        _ => "sink((int) Z.getAndAdd(o, 1)); return null;".to_owned(),
    }
}

pub(crate) fn source() -> Source {
    let mut text = HEAD.to_owned();
    let (mut lines, mut of, mut refers, mut calls) = (BTreeMap::new(), String::new(), String::new(), String::new());
    let mut at = text.lines().count();
    for (v, variable) in VARIABLES.iter().enumerate() {
        for way in Way::ALL {
            write!(of, "{}, ", variable.of).expect("a string");
            write!(refers, "{}, ", variable.refers.map_or(-1, |object| object as i32)).expect("a string");
            if !way.fits(variable) {
                continue;
            }
            let number = number_of(way, v);
            let class = CLASSES[variable.of];
            writeln!(calls, "            case {number}: return a{number}(({class}) o, i, r, site);").expect("a string");
            writeln!(
                text,
                "    private static Object a{number}({class} o, int i, Object r, int site) {{\n        switch (site) {{"
            )
            .expect("a string");
            at += 2;
            for site in 0..SITES {
                writeln!(text, "            case {site}: {}", statement(variable, way)).expect("a string");
                at += 1;
                lines.insert(at, (way, v, site));
            }
            text.push_str("        }\n        throw new AssertionError();\n    }\n");
            at += 3;
        }
    }
    text.push_str("    static Object act(int number, Object o, int i, Object r, int site) {\n");
    writeln!(text, "        switch (number) {{\n{calls}        }}").expect("a string");
    text.push_str("        throw new AssertionError();\n    }\n}\n");
    let tables = format!("class Tables {{\n    static final int[] OF = {{{of}}}, REF = {{{refers}}};\n}}\n");
    Source { text: text + &tables, lines }
}
