//! What programs say of their runs, and what watching them costs by that.

/// What is wanted: nanoseconds for an access.
pub(crate) const ACCESS: f64 = 4.0;
/// And for a synchronisation operation.
pub(crate) const SYNC: f64 = 15.0;

/// What a program says of itself: the line that `Measure.java` prints.
pub(crate) struct Said {
    pub(crate) wall: f64,
    pub(crate) cpu: f64,
    pub(crate) accesses: f64,
    pub(crate) syncs: f64,
    pub(crate) checksum: String,
    pub(crate) process: f64,
    pub(crate) all_events: f64,
}

impl Said {
    pub(crate) fn read(output: &str) -> Option<Said> {
        let [wall, cpu, accesses, syncs, checksum, process, all_events] =
            output.lines().last()?.split(' ').collect::<Vec<_>>().try_into().ok()?;
        let number = |word: &str| word.parse().ok();
        Some(Said {
            wall: number(wall)?,
            cpu: number(cpu)?,
            accesses: number(accesses)?,
            syncs: number(syncs)?,
            checksum: checksum.to_owned(),
            process: number(process)?,
            all_events: number(all_events)?,
        })
    }
}

/// What a run took.
pub(crate) struct Took {
    pub(crate) said: Said,
    /// CPU seconds of everything: the program and the observer.
    pub(crate) all_cpu: f64,
    pub(crate) trace_bytes: f64,
}

impl Took {
    /// CPU seconds of what is not the program; of a plain run: of the virtual machine's end.
    pub(crate) fn others(&self) -> f64 {
        self.all_cpu - self.said.process
    }
}

/// What watching a program costs. Seconds are plain and watched.
pub(crate) struct Cost {
    pub(crate) wall: [f64; 2],
    pub(crate) cpu: [f64; 2],
    pub(crate) all_cpu: [f64; 2],
    pub(crate) accesses: f64,
    pub(crate) syncs: f64,
    pub(crate) observer: f64,
    pub(crate) all_events: f64,
    pub(crate) trace_bytes: f64,
    /// How far the rounds are from each other, in CPU seconds that the program's own threads took more.
    pub(crate) spread: f64,
}

impl Cost {
    pub(crate) fn of(runs: &[Vec<Took>; 2]) -> Cost {
        let both = |of: fn(&Took) -> f64| runs.each_ref().map(|runs| median(runs.iter().map(of)));
        let watched = |of: fn(&Took) -> f64| both(of)[1];
        let others = both(Took::others);
        let more: Vec<f64> =
            runs[0].iter().zip(&runs[1]).map(|(plain, watched)| watched.said.cpu - plain.said.cpu).collect();
        let middle = median(more.iter().copied());
        Cost {
            wall: both(|took| took.said.wall),
            cpu: both(|took| took.said.cpu),
            all_cpu: both(|took| took.all_cpu),
            accesses: watched(|took| took.said.accesses),
            syncs: watched(|took| took.said.syncs),
            observer: others[1] - others[0],
            all_events: watched(|took| took.said.all_events),
            trace_bytes: watched(|took| took.trace_bytes),
            spread: median(more.iter().map(|more| (more - middle).abs())),
        }
    }

    pub(crate) fn ratio(&self) -> f64 {
        self.wall[1] / self.wall[0]
    }

    /// Nanoseconds that the program's own threads took more.
    pub(crate) fn more(&self) -> f64 {
        (self.cpu[1] - self.cpu[0]) * 1e9
    }

    /// Nanoseconds for an access, if there is nothing else.
    pub(crate) fn access(&self) -> Option<f64> {
        (self.syncs == 0.0).then(|| self.more() / self.accesses)
    }

    pub(crate) fn sync(&self) -> Option<f64> {
        (self.accesses == 0.0).then(|| self.more() / self.syncs)
    }

    /// What part of two processors the program's two threads had, when it ran plainly.
    pub(crate) fn had_processors(&self) -> f64 {
        self.cpu[0] / (2.0 * self.wall[0])
    }

    pub(crate) fn of_allowed(&self) -> f64 {
        self.more() / (ACCESS * self.accesses + SYNC * self.syncs)
    }

    pub(crate) fn cells(&self) -> String {
        let events = self.accesses + self.syncs;
        let known = |cost: Option<f64>| cost.map_or(String::from("–"), |cost| format!("{cost:.2}"));
        [
            format!("{:.2} s", self.wall[0]),
            format!("{:.2} s", self.wall[1]),
            format!("{:.2}×", self.ratio()),
            format!("{:.1}", self.accesses / 1e6),
            format!("{:.1}", self.syncs / 1e6),
            known(self.access()),
            known(self.sync()),
            format!("{:.2} ± {:.2}", self.more() / events, self.spread * 1e9 / events),
            format!("{:.2}", self.of_allowed()),
            format!("{:.2} s", self.observer),
            format!("{:.2}", self.observer * 1e9 / self.all_events),
            format!("{:.2}×", self.all_cpu[1] / self.all_cpu[0]),
            format!("{:.1} MB", self.trace_bytes / 1e6),
        ]
        .join(" | ")
    }
}

fn median(numbers: impl Iterator<Item = f64>) -> f64 {
    let mut numbers: Vec<f64> = numbers.collect();
    numbers.sort_by(f64::total_cmp);
    numbers.get(numbers.len() / 2).copied().unwrap_or(f64::NAN)
}
