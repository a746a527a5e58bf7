//! `--detect LIST`: which detectors of the registry the user chooses, and the help that explains them.

use analysis::{DetectorId, detectors};
use anyhow::{Result, bail};
use std::collections::BTreeSet;

/// One word of the list.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Choice {
    /// `all`: every detector.
    All,
    /// `none`: no detector.
    None,
    /// `hb`: this one.
    One(DetectorId),
    /// `-hb`: not this one.
    Without(DetectorId),
}

/// Parses one word of the list, for the command line.
pub(crate) fn parse(word: &str) -> Result<Choice, String> {
    let (name, without) = match word.strip_prefix('-') {
        Some(name) => (name, true),
        None => (word, false),
    };
    match (name, without, DetectorId::named(name)) {
        ("all", false, _) => Ok(Choice::All),
        ("none", false, _) => Ok(Choice::None),
        (_, false, Some(detector)) => Ok(Choice::One(detector)),
        (_, true, Some(detector)) => Ok(Choice::Without(detector)),
        (_, _, None) => {
            let known: Vec<&str> = detectors::all().map(DetectorId::name).chain(["all", "none"]).collect();
            Err(format!("there is no such detector [possible values: {}]", known.join(", ")))
        }
    }
}

/// The detectors that a list means. A list that only leaves some out means all others.
pub(crate) fn chosen(list: &[Choice]) -> Result<Vec<DetectorId>> {
    if list.contains(&Choice::None) && list.len() > 1 {
        bail!("--detect: `none` stands alone");
    }
    let mut chosen = BTreeSet::new();
    if list.iter().all(|choice| matches!(choice, Choice::Without(_))) {
        chosen.extend(detectors::default());
    }
    for choice in list {
        match choice {
            Choice::All => chosen.extend(detectors::all()),
            Choice::One(detector) => drop(chosen.insert(*detector)),
            Choice::Without(_) | Choice::None => {}
        }
    }
    chosen.retain(|&detector| !list.contains(&Choice::Without(detector)));
    Ok(chosen.into_iter().collect())
}

/// The width of help texts.
pub(crate) const WIDTH: usize = 100;

/// What each detector finds, a paragraph each, indented behind its name.
pub(crate) fn help() -> String {
    let widest = detectors::all().map(|detector| detector.name().len()).max().unwrap_or(0);
    let mut text = String::new();
    for detector in detectors::all() {
        let mut line = format!("  {:<widest$} ", detector.name());
        for word in detector.help().split(' ') {
            if line.len() + 1 + word.len() > WIDTH {
                text += &format!("{line}\n");
                line = " ".repeat(widest + 3);
            }
            line += &format!(" {word}");
        }
        text += &format!("{line}\n");
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(list: &str) -> Vec<&'static str> {
        let list: Vec<Choice> = list.split(',').map(|word| parse(word).expect("a detector")).collect();
        chosen(&list).expect("a choice").into_iter().map(DetectorId::name).collect()
    }

    #[test]
    fn lists_mean_sets() {
        let all: Vec<&str> = detectors::all().map(DetectorId::name).collect();
        let without_lockset: Vec<&str> = all.iter().copied().filter(|&name| name != "lockset").collect();
        assert_eq!(names("all"), all);
        assert_eq!(names("all,-lockset"), without_lockset);
        assert_eq!(names("-lockset"), without_lockset);
        assert_eq!(names("deadlock,hb,lock_order"), ["hb", "deadlock", "lock-order"]);
        assert_eq!(names("none"), [""; 0]);
    }

    #[test]
    fn what_is_no_detector_is_refused() {
        assert!(parse("nosuch").unwrap_err().contains("sync-preserving"));
        assert!(parse("-all").is_err());
        assert!(chosen(&[Choice::None, Choice::All]).is_err());
    }
}
