//! Progress on standard error, for work that takes more than a second at a terminal.

use crate::output;
use indicatif::{HumanCount, ProgressBar, ProgressStyle};
use std::cell::RefCell;
use std::io::IsTerminal;
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// How long work may take before a bar appears.
const PATIENCE: Duration = Duration::from_secs(1);

/// Whether standard error is a terminal that a user looks at.
fn is_wanted() -> bool {
    std::io::stderr().is_terminal() && !output::is_silent()
}

/// Progress of one piece of work, reported as often as convenient.
pub(crate) struct Progress {
    verb: &'static str,
    total: Option<u64>,
    started: Instant,
    wanted: bool,
    bar: Option<ProgressBar>,
}

impl Progress {
    /// Work towards `total`, in the unit of [`Progress::at`], if that is known.
    pub(crate) fn new(verb: &'static str, total: Option<u64>) -> Progress {
        let wanted = is_wanted();
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

/// The phases of an analysis, each with a spinner once it takes long.
#[derive(Default)]
pub(crate) struct Phases {
    current: RefCell<Option<Working>>,
}

impl analysis::Progress for Phases {
    fn begin(&self, phase: &str) {
        // The spinner of an outer phase goes before the next one comes.
        self.end();
        *self.current.borrow_mut() = Some(Working::on(phase.to_owned()));
    }

    fn end(&self) {
        self.current.borrow_mut().take();
    }
}

/// Work that cannot say how far it is: what is being done, and since when. It goes away when it is dropped.
struct Working {
    done: Option<Sender<()>>,
    shown: Option<JoinHandle<()>>,
}

impl Working {
    fn on(what: String) -> Working {
        if !is_wanted() {
            return Working { done: None, shown: None };
        }
        let (done, waits) = channel::<()>();
        let shown = std::thread::spawn(move || {
            if waits.recv_timeout(PATIENCE) != Err(RecvTimeoutError::Timeout) {
                return;
            }
            let bar = ProgressBar::new_spinner();
            if let Ok(style) = ProgressStyle::with_template("{spinner} {msg}, {elapsed} (Ctrl-C stops and reports)") {
                bar.set_style(style);
            }
            bar.set_message(what);
            bar.enable_steady_tick(Duration::from_millis(200));
            let _ = waits.recv();
            bar.finish_and_clear();
        });
        Working { done: Some(done), shown: Some(shown) }
    }
}

impl Drop for Working {
    fn drop(&mut self) {
        self.done.take();
        if let Some(shown) = self.shown.take() {
            let _ = shown.join();
        }
    }
}
