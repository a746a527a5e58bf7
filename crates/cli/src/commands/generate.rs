//! `foretrace gen`: makes a trace for benchmarks and tests.

use super::convert::copy;
use crate::args::Gen;
use crate::progress::Progress;
use anyhow::Result;
use generate::{Generator, Options};

pub(crate) fn run(args: &Gen) -> Result<u8> {
    let mut generator = Generator::new(Options {
        events: args.events,
        threads: args.threads,
        vars: args.vars,
        locks: args.locks,
        seed: args.seed,
        quantum: args.quantum,
        cslen: args.cslen,
        pcs: args.pcs,
        racy: args.racy,
        nest: args.nest,
        rev: args.rev,
        writes: args.writes,
        txn: args.txn,
        viol: args.viol,
        values: args.values,
        readers: args.readers,
        waits: args.waits,
        stranded: args.stranded,
        churn: args.churn,
        all_ops: args.all_ops,
        watch: args.watch.clone(),
        watch_every: args.watch_every,
        plant: args.plant,
    })?;
    let mut progress = Progress::new("made", Some(args.events));
    copy(&mut generator, &args.output, |_, events| progress.at(events, events))
}
