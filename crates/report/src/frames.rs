//! Which frames of a call stack a reader wants: those of the user's own code.

use crate::site::{is_of_system, split_site};

/// How the frames of what runs tests and builds begin, and of our own classes.
const PLUMBING: [&str; 8] = [
    "org.junit.",
    "junit.",
    "org.testng.",
    "org.apache.maven.",
    "org.gradle.",
    "worker.org.gradle.",
    "com.intellij.rt.",
    "foretrace.",
];

/// What is shown of a stack.
#[derive(PartialEq, Eq, Debug)]
pub(crate) struct Own<'a> {
    /// The first place of the user's own code; the site itself, if there is none.
    pub(crate) site: &'a str,
    /// The function that was called there, if the site is within it.
    pub(crate) within: Option<&'a str>,
    /// Who called that, from the inside out.
    pub(crate) callers: Vec<&'a str>,
}

/// Whether a frame is not the user's own code.
fn is_foreign(frame: &str) -> bool {
    is_of_system(frame) || PLUMBING.iter().any(|start| frame.starts_with(start))
}

/// What is shown of the stack of a site; `all`: every frame.
pub(crate) fn own<'a>(site: &'a str, stack: &'a [String], all: bool) -> Own<'a> {
    let frames = match stack {
        [leaf, callers @ ..] if leaf == site => callers,
        _ => stack,
    };
    if all {
        return Own { site, within: None, callers: frames.iter().map(String::as_str).collect() };
    }
    let mut callers: Vec<&str> = frames.iter().map(String::as_str).filter(|frame| !is_foreign(frame)).collect();
    if callers.iter().all(|frame| *frame == "…") {
        callers.clear();
    }
    if !is_foreign(site) || callers.is_empty() {
        return Own { site, within: None, callers };
    }
    // What the user's code called: the outermost of the frames before it.
    let inside = frames.iter().take_while(|frame| is_foreign(frame)).last().map_or(site, String::as_str);
    let (function, place) = split_site(inside);
    Own { site: callers.remove(0), within: Some(function.unwrap_or(place)), callers }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn frames_of_libraries_are_left_out() {
        let stack: Vec<String> = [
            "!java.util.HashMap.putVal HashMap.java:630",
            "!java.util.HashMap.put HashMap.java:610",
            "Desk.put Desk.java:7",
            "!java.util.stream.ForEachOps.evaluate ForEachOps.java:9",
            "Main.test Main.java:3",
            "org.junit.runners.ParentRunner.run ParentRunner.java:2",
        ]
        .map(str::to_owned)
        .into();
        let shown = own(&stack[0], &stack, false);
        assert_eq!((shown.site, shown.within), ("Desk.put Desk.java:7", Some("java.util.HashMap.put")));
        assert_eq!(shown.callers, ["Main.test Main.java:3"]);
        assert_eq!(own(&stack[0], &stack, true).callers.len(), 5);
        // A site of the user's own is what it is; one without such frames is all there is.
        assert_eq!(own(&stack[2], &stack[2..], false).site, "Desk.put Desk.java:7");
        assert_eq!(own(&stack[2], &stack[2..], false).within, None);
        let foreign = own(&stack[0], &stack[..2], false);
        assert_eq!((foreign.site, foreign.callers.len()), (stack[0].as_str(), 0));
        assert_eq!(own("Main.java:12", &[], false).site, "Main.java:12");
    }
}
