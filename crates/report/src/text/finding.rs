//! One finding as text: the headline, its sides first, then why, then the order that shows it.

use super::{HEAD, Shown, count, entry, labels};
use crate::frames::{Own, own};
use crate::paths::Paths;
use crate::plain::{harmless, pad, width};
use crate::{Finding, Kind, Side, Status, Unshown, side_by_side};
use std::io;

const INDENT: usize = 2;

/// Locks of a side whose place is shown, and origins.
const SHOWN: usize = 12;

/// Pairs behind a race that are shown.
const BEHIND: usize = 5;

/// How many event indexes of a witness are shown at its beginning and at its end.
const ENDS: u64 = 8;

pub(super) fn render(finding: &Finding, shown: &Shown, out: &mut dyn io::Write) -> io::Result<()> {
    let (style, at, paths) = (shown.style, shown.width, &shown.paths);
    let colon = if finding.status() == Status::Warning { ":" } else { "" };
    writeln!(out, "{}{colon} {}", style.status(finding.status()), style.bold(&headline(finding, paths)))?;
    sides(finding, shown, out)?;
    for origin in finding.origins.iter().take(SHOWN) {
        let own = own(&origin.site, &origin.stack, shown.full_stacks);
        entry(INDENT, origin.of.text(), &harmless(&origin.words(&place(&own, paths))), at, out)?;
        stack(&own, INDENT + HEAD, shown, out)?;
    }
    if let Some(more) = finding.origins.len().checked_sub(SHOWN).filter(|&more| more > 0) {
        entry(INDENT, "", &format!("… and where {more} more came from is in the JSON"), at, out)?;
    }
    for (word, text) in &finding.exhibit.entries {
        entry(INDENT, &harmless(word), &harmless(&labels::sentence(finding, text)), at, out)?;
    }
    if let Some(process) = finding.process.as_ref().filter(|_| shown.several) {
        entry(INDENT, "process", &harmless(&process.words()), at, out)?;
    }
    entry(INDENT, "why", &harmless(&labels::sentence(finding, &finding.message)), at, out)?;
    behind(finding, shown, out)?;
    if finding.exhibit.schedules.is_empty() {
        entry(INDENT, "witness", &witness(finding), at, out)?;
    }
    if let Some(outcome) = finding.evidence.confirm() {
        entry(INDENT, "real run", outcome.text(), at, out)?;
    }
    if finding.merged > 0 {
        let more = format!("{} more with the same code and object", finding.merged);
        entry(INDENT, "and", &more, at, out)?;
    }
    let id = format!("{} (found by {})", harmless(&finding.fingerprint), harmless(&finding.detector));
    entry(INDENT, "id", &id, at, out)?;
    if !finding.exhibit.schedules.is_empty() {
        writeln!(out)?;
        for line in side_by_side(&labels::schedules(finding), at.saturating_sub(INDENT)).lines() {
            writeln!(out, "{}", format!("{}{line}", pad("", INDENT)).trim_end())?;
        }
    }
    Ok(())
}

/// What only this race orders: a line each.
fn behind(finding: &Finding, shown: &Shown, out: &mut dyn io::Write) -> io::Result<()> {
    let lines = finding.behind.iter().take(BEHIND).map(|pair| headline(pair, &shown.paths));
    for (number, line) in lines.enumerate() {
        entry(INDENT, if number == 0 { "behind it" } else { "" }, &line, shown.width, out)?;
    }
    match finding.behind.len().saturating_sub(BEHIND) {
        0 => Ok(()),
        more => entry(INDENT, "", &format!("… and {more} more in the JSON"), shown.width, out),
    }
}

/// What it is, about what, and the first places of the user's own code.
pub(super) fn headline(finding: &Finding, paths: &Paths) -> String {
    let mut line = match finding.kind {
        Kind::Property => format!("violation of {}", harmless(&finding.detector)),
        kind if finding.objects.is_empty() => kind.text().to_owned(),
        Kind::Misuse => format!("misuse of {}", harmless(&objects(finding))),
        kind => format!("{} on {}", kind.text(), harmless(&objects(finding))),
    };
    let sites = finding.sides.iter().map(|side| paths.site(own(&side.site, &side.stack, false).site));
    let sites: Vec<String> = sites.filter(|site| !site.is_empty()).collect();
    if let Some((last, others)) = sites.split_last() {
        let others = others.join(", ");
        line += ": ";
        line += &harmless(&others);
        line += if others.is_empty() { "" } else { " and " };
        line += &harmless(last);
    }
    line
}

/// The objects of a finding, by the names that the program gave them, if it did.
fn objects(finding: &Finding) -> String {
    let named = |object: &String| match finding.called.get(object) {
        Some(called) => format!("{called} ({object})"),
        None => object.clone(),
    };
    finding.objects.iter().map(named).collect::<Vec<_>>().join(", ")
}

/// The sides in aligned columns (thread, operation, event, site, locks), each with its stack below, and where its
/// locks were taken.
fn sides(finding: &Finding, shown: &Shown, out: &mut dyn io::Write) -> io::Result<()> {
    let sides = &finding.sides;
    let cells = |side: &Side| {
        let place = place(&own(&side.site, &side.stack, shown.full_stacks), &shown.paths);
        let site = if place.is_empty() { String::new() } else { format!("at {}", harmless(&place)) };
        [
            harmless(labels::thread(finding, &side.thread)).into_owned(),
            harmless(&labels::sentence(finding, &side.op)).into_owned(),
            format!("event {}", side.event),
            site,
            match side.locks_held.as_slice() {
                [] => "holding no lock".to_owned(),
                locks => {
                    let locks: Vec<&str> = locks.iter().map(|lock| labels::object(finding, lock)).collect();
                    format!("holding {}", harmless(&locks.join(", ")))
                }
            },
        ]
    };
    let rows: Vec<[String; 5]> = sides.iter().map(cells).collect();
    let widest = |column: usize| rows.iter().map(|row| width(&row[column])).max().unwrap_or(0);
    let widths: Vec<usize> = (0..5).map(widest).collect();
    for (row, side) in rows.iter().zip(sides) {
        let used = row.iter().zip(&widths).filter(|(_, w)| **w > 0);
        let line: Vec<String> = used.map(|(cell, w)| pad(cell, *w)).collect();
        writeln!(out, "{}{}", pad("", INDENT), line.join("  ").trim_end())?;
        stack(&own(&side.site, &side.stack, shown.full_stacks), 3 * INDENT, shown, out)?;
        let taken = side.locks_held.iter().zip(&side.lock_sites).filter(|(_, site)| !site.is_empty());
        for (lock, site) in taken.take(SHOWN) {
            let taken = format!("{} taken at {}", labels::object(finding, lock), shown.paths.site(site));
            writeln!(out, "{}{}", pad("", 3 * INDENT), shown.style.dim(&harmless(&taken)))?;
        }
    }
    Ok(())
}

/// Where it is in the user's own code, and which function of a library was called there.
fn place(own: &Own<'_>, paths: &Paths) -> String {
    let site = paths.site(own.site);
    match own.within {
        Some(function) => format!("{site}, in {function}"),
        None => site,
    }
}

/// The callers of a place, one below the other.
fn stack(own: &Own<'_>, indent: usize, shown: &Shown, out: &mut dyn io::Write) -> io::Result<()> {
    for frame in &own.callers {
        writeln!(out, "{}{}", pad("", indent), shown.style.dim(&harmless(&shown.paths.site(frame))))?;
    }
    Ok(())
}

fn witness(finding: &Finding) -> String {
    let Some(events) = finding.evidence.witness() else {
        if let Some(events) = finding.evidence.omitted() {
            return format!("{} in an order that was checked; the report has no room for it", count(events, "event"));
        }
        return match (finding.status(), finding.evidence.unshown()) {
            (Status::Warning, _) => "none: a pattern that may or may not be able to happen".to_owned(),
            (Status::Confirmed, _) => "none: a real run showed it".to_owned(),
            (_, why) => format!("none: {}", why.map_or("the recorded run shows it as it stands", Unshown::words)),
        };
    };
    let text = |places: std::ops::Range<u64>| {
        places.filter_map(|at| events.get(at)).map(|event| event.to_string()).collect::<Vec<_>>().join(" ")
    };
    match events.len() {
        0 => "no event: it is so from the start".to_owned(),
        n if n <= 2 * ENDS => format!("{} in this order: {}", count(n, "event"), text(0..n)),
        n => format!("{n} events in this order: {} … {}", text(0..ENDS), text(n - ENDS..n)),
    }
}
