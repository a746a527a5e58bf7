//! A progress bar on standard error, for work that takes more than a second at a terminal.

use indicatif::{HumanCount, ProgressBar, ProgressStyle};
use std::io::IsTerminal;
use std::time::{Duration, Instant};

/// How long work may take before a bar appears.
const PATIENCE: Duration = Duration::from_secs(1);

/// Progress of one piece of work, told as often as convenient.
pub(crate) struct Progress {
    verb: &'static str,
    total: Option<u64>,
    started: Instant,
    wanted: bool,
    bar: Option<ProgressBar>,
}

impl Progress {
    /// Work towards `total` of whatever [`Progress::at`] is told, if that is known.
    pub(crate) fn new(verb: &'static str, total: Option<u64>) -> Progress {
        let wanted = std::io::stderr().is_terminal();
        Progress { verb, total, started: Instant::now(), wanted, bar: None }
    }

    /// This much of the total is done, and so many events.
    pub(crate) fn at(&mut self, done: u64, events: u64) {
        if !self.wanted || (self.bar.is_none() && self.started.elapsed() < PATIENCE) {
            return;
        }
        let bar = self.bar.get_or_insert_with(|| match self.total {
            Some(total) => {
                let bar = ProgressBar::new(total);
                if let Ok(style) = ProgressStyle::with_template("{msg} {wide_bar} {percent:>3} % {eta:>4} left") {
                    bar.set_style(style);
                }
                bar
            }
            None => ProgressBar::new_spinner(),
        });
        let rate = events as f64 / self.started.elapsed().as_secs_f64() / 1e6;
        bar.set_message(format!("{} {} events, {rate:.1} M/s", self.verb, HumanCount(events)));
        bar.set_position(done);
    }

    /// Takes the bar away.
    pub(crate) fn done(&mut self) {
        if let Some(bar) = self.bar.take() {
            bar.finish_and_clear();
        }
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        self.done();
    }
}
