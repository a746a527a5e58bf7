//! Options: what trace to make, and which options are refused.

use event::MAX_THREADS;

/// What trace to make. The defaults give a million events of eight threads with plain accesses, locks, fork and join.
#[derive(Clone, PartialEq, Debug)]
pub struct Options {
    /// How many events the trace has, exactly. Threads for which there is no room are not started.
    pub events: u64,
    /// How many threads, the main thread included; with `churn`, how many at most at the same time.
    pub threads: u32,
    /// How many shared and thread-local variables there are to choose from.
    pub vars: u32,
    /// How many locks there are to choose from. A few are popular, most are rarely taken.
    pub locks: u32,
    /// Equal seeds and options give equal traces, for ever and on every machine.
    pub seed: u64,
    /// The mean number of events that a thread runs before the scheduler picks a thread again.
    pub quantum: f64,
    /// The mean number of accesses in a critical section.
    pub cslen: f64,
    /// The probability that a thread begins a critical section instead of an access without a lock.
    pub pcs: f64,
    /// The fraction of accesses outside critical sections that are to a variable which no lock protects.
    pub racy: f64,
    /// The fraction of critical sections that take a second lock inside.
    pub nest: f64,
    /// The fraction of critical sections that may take the second lock against the usual order (possible deadlocks).
    pub rev: f64,
    /// The fraction of accesses that are writes.
    pub writes: f64,
    /// Make every outermost critical section an atomic block. All blocks are serialisable without `all-ops`.
    pub txn: bool,
    /// Put in one violation of atomicity after this many events (needs `txn` and three threads).
    pub viol: Option<u64>,
    /// Record values: every write an integer, every read the value that was written last.
    pub values: bool,
    /// The fraction of critical sections that hold a reader lock, and only read what the lock protects.
    pub readers: f64,
    /// The fraction of critical sections that wait for a condition at their end, until another thread notifies them
    /// (or, now and then, until a timeout or for no reason). The main thread never waits.
    pub waits: f64,
    /// Leave the threads that wait when the events run out waiting for ever, instead of waking and joining them.
    pub stranded: bool,
    /// The probability that a worker thread ends after its turn, to be joined and replaced by one with a new name.
    pub churn: f64,
    /// Sprinkle in every operation there is: try-locks, announced waits, re-entrant locks, latches, semaphores, atomics
    /// and fences of all orders, events with arguments, alloc and free, drop barriers, nested blocks; also a few reader
    /// locks and condition waits, if `readers` and `waits` do not ask for more.
    pub all_ops: bool,
    /// Variables that all threads write now and then, with values from 0 to 6, recorded whatever `values` says; at
    /// first they hold 0.
    pub watch: Vec<String>,
    /// The mean number of events between two occasions on which watched variables are written. On some occasions many
    /// threads write one right after the other, so that writes of different variables are concurrent.
    pub watch_every: f64,
    /// After this many events, among concurrent writes, the first two watched variables hold 7: one after the other,
    /// but only by chance. Needs two watched variables and two threads.
    pub plant: Option<u64>,
}

impl Default for Options {
    fn default() -> Self {
        Options {
            events: 1_000_000,
            threads: 8,
            vars: 10_000,
            locks: 100,
            seed: 1,
            quantum: 40.0,
            cslen: 8.0,
            pcs: 0.06,
            racy: 0.0005,
            nest: 0.10,
            rev: 0.001,
            writes: 0.30,
            txn: false,
            viol: None,
            values: false,
            readers: 0.0,
            waits: 0.0,
            stranded: false,
            churn: 0.0,
            all_ops: false,
            watch: Vec::new(),
            watch_every: 1000.0,
            plant: None,
        }
    }
}

/// Why no trace can be made with these options.
#[derive(Clone, PartialEq, Debug, thiserror::Error)]
pub enum OptionsError {
    /// A number is outside its bounds.
    #[error("{option} is {given}, but must be between {least} and {most}")]
    OutOfBounds {
        /// The option's name.
        option: &'static str,
        /// What was asked for.
        given: u64,
        /// The least that makes sense.
        least: u64,
        /// The most that can be made.
        most: u64,
    },
    /// A fraction or probability is not one.
    #[error("{option} is {given}, but must be a fraction between 0 and 1")]
    NotAFraction {
        /// The option's name.
        option: &'static str,
        /// What was asked for.
        given: f64,
    },
    /// A mean length is less than 1 or absurdly large.
    #[error("{option} is {given}, but must be a mean length between 1 and 1000000000")]
    NotALength {
        /// The option's name.
        option: &'static str,
        /// What was asked for.
        given: f64,
    },
    /// Not every thread and lock could have a variable of its own.
    #[error("vars is {given}, but {threads} threads and {locks} locks need at least {least} variables")]
    TooFewVars {
        /// The variables asked for.
        given: u32,
        /// The threads asked for.
        threads: u32,
        /// The locks asked for.
        locks: u32,
        /// The least number of variables for them.
        least: u64,
    },
    /// A watched variable has a name that another one has, or that formulas could not say.
    #[error("watch has `{name}`, but must have different identifiers, none of which is V, A or H and a number")]
    BadName {
        /// The name.
        name: String,
    },
    /// One option makes no sense without another.
    #[error("{option} needs {needed}")]
    Needs {
        /// The option's name.
        option: &'static str,
        /// What is missing.
        needed: &'static str,
    },
}

/// Tables are indexed by variable and lock: bounded so that no option can ask for absurd memory.
const MOST_VARS: u64 = 1 << 28;
const MOST_LOCKS: u64 = 1 << 24;

impl Options {
    /// Whether a trace can be made with these options, and why not.
    pub fn check(&self) -> Result<(), OptionsError> {
        let counts = [
            ("events", self.events, u64::MAX / 2),
            ("threads", u64::from(self.threads), MAX_THREADS as u64),
            ("vars", u64::from(self.vars), MOST_VARS),
            ("locks", u64::from(self.locks), MOST_LOCKS),
        ];
        for (option, given, most) in counts {
            if !(1..=most).contains(&given) {
                return Err(OptionsError::OutOfBounds { option, given, least: 1, most });
            }
        }
        let fractions = [
            ("pcs", self.pcs),
            ("racy", self.racy),
            ("nest", self.nest),
            ("rev", self.rev),
            ("writes", self.writes),
            ("readers", self.readers),
            ("waits", self.waits),
            ("churn", self.churn),
        ];
        for (option, given) in fractions {
            if !(0.0..=1.0).contains(&given) {
                return Err(OptionsError::NotAFraction { option, given });
            }
        }
        for (option, given) in [("quantum", self.quantum), ("cslen", self.cslen), ("watch-every", self.watch_every)] {
            if !(1.0..=1e9).contains(&given) {
                return Err(OptionsError::NotALength { option, given });
            }
        }
        let least = u64::from(self.threads) + u64::from(self.locks) + crate::layout::LEAST_SHARED;
        if u64::from(self.vars) < least {
            let (given, threads, locks) = (self.vars, self.threads, self.locks);
            return Err(OptionsError::TooFewVars { given, threads, locks, least });
        }
        let bad = |(number, name): &(usize, &String)| !is_identifier(name) || self.watch[..*number].contains(name);
        if let Some((_, name)) = self.watch.iter().enumerate().find(bad) {
            return Err(OptionsError::BadName { name: name.clone() });
        }
        let needs = [
            ("viol", self.viol.is_some() && !self.txn, "txn"),
            ("viol", self.viol.is_some() && self.threads < 3, "at least 3 threads"),
            ("viol", self.viol.is_some_and(|k| k >= self.events), "a number less than events"),
            ("plant", self.plant.is_some() && self.watch.len() < 2, "two variables to watch"),
            ("plant", self.plant.is_some() && self.threads < 2, "at least 2 threads"),
            ("plant", self.plant.is_some_and(|k| k >= self.events), "a number less than events"),
            ("waits", self.waits > 0.0 && self.threads < 2, "at least 2 threads: the main thread never waits"),
            ("churn", self.churn > 0.0 && self.threads < 2, "at least 2 threads: the main thread never ends"),
            ("stranded", self.stranded && self.waits == 0.0 && !self.all_ops, "waits"),
        ];
        for (option, wrong, needed) in needs {
            if wrong {
                return Err(OptionsError::Needs { option, needed });
            }
        }
        Ok(())
    }
}

/// A name that a formula can say, and that is not one of the generator's own.
fn is_identifier(name: &str) -> bool {
    let own = name.strip_prefix(['V', 'A', 'H']).is_some_and(|rest| rest.bytes().all(|c| c.is_ascii_digit()));
    !own && name.bytes().enumerate().all(|(k, c)| c == b'_' || c.is_ascii_alphabetic() || k > 0 && c.is_ascii_digit())
        && !name.is_empty()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn message(change: impl Fn(&mut Options)) -> String {
        let mut options = Options::default();
        change(&mut options);
        options.check().expect_err("nonsense is refused").to_string()
    }

    #[test]
    fn the_defaults_make_sense() {
        assert_eq!(Options::default().check(), Ok(()));
    }

    #[test]
    fn nonsense_is_refused_with_the_reason() {
        assert_eq!(message(|o| o.threads = 0), "threads is 0, but must be between 1 and 67108864");
        assert_eq!(message(|o| o.events = 0), "events is 0, but must be between 1 and 9223372036854775807");
        assert_eq!(message(|o| o.locks = 0), "locks is 0, but must be between 1 and 16777216");
        assert_eq!(message(|o| o.racy = 1.5), "racy is 1.5, but must be a fraction between 0 and 1");
        assert_eq!(message(|o| o.pcs = f64::NAN), "pcs is NaN, but must be a fraction between 0 and 1");
        assert_eq!(message(|o| o.cslen = 0.5), "cslen is 0.5, but must be a mean length between 1 and 1000000000");
        assert_eq!(message(|o| o.vars = 112), "vars is 112, but 8 threads and 100 locks need at least 113 variables");
        assert_eq!(message(|o| o.viol = Some(9)), "viol needs txn");
        assert_eq!(message(|o| (o.watch, o.plant) = (vec!["a".into()], Some(9))), "plant needs two variables to watch");
        for names in [&["a", "a"][..], &["V7"], &["0"], &["a b"], &[""]] {
            assert!(message(|o| o.watch = names.iter().map(ToString::to_string).collect()).starts_with("watch has `"));
        }
        assert_eq!(
            message(|o| (o.threads, o.waits) = (1, 0.1)),
            "waits needs at least 2 threads: the main thread never waits"
        );
    }
}
