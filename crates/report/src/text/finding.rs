//! One finding as text: the headline, its sides first, then why, then the order that shows it.

use super::{HEAD, count, entry};
use crate::origin::callers;
use crate::plain::{harmless, pad, width};
use crate::style::Style;
use crate::{Finding, Kind, Side, Status, Unshown, side_by_side, site_text};
use std::io;

const INDENT: usize = 2;

/// Locks of a side whose place is shown, and origins.
const SHOWN: usize = 12;

/// How many event indexes of a witness are shown at its beginning and at its end.
const ENDS: u64 = 8;

pub(super) fn render(finding: &Finding, style: Style, at: usize, out: &mut dyn io::Write) -> io::Result<()> {
    let colon = if finding.status() == Status::Warning { ":" } else { "" };
    writeln!(out, "{}{colon} {}", style.status(finding.status()), style.bold(&headline(finding)))?;
    sides(&finding.sides, style, out)?;
    for origin in finding.origins.iter().take(SHOWN) {
        entry(INDENT, origin.of.text(), &harmless(&origin.words()), at, out)?;
        stack(origin.callers(), INDENT + HEAD, style, out)?;
    }
    if let Some(more) = finding.origins.len().checked_sub(SHOWN).filter(|&more| more > 0) {
        entry(INDENT, "", &format!("… and where {more} more came from is in the JSON"), at, out)?;
    }
    for (word, text) in &finding.exhibit.entries {
        entry(INDENT, &harmless(word), &harmless(text), at, out)?;
    }
    entry(INDENT, "why", &harmless(&finding.message), at, out)?;
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
        for line in side_by_side(&finding.exhibit.schedules, at.saturating_sub(INDENT)).lines() {
            writeln!(out, "{}", format!("{}{line}", pad("", INDENT)).trim_end())?;
        }
    }
    Ok(())
}

fn headline(finding: &Finding) -> String {
    let mut line = match finding.kind {
        Kind::Property => format!("violation of {}", harmless(&finding.detector)),
        kind if finding.objects.is_empty() => kind.text().to_owned(),
        Kind::Misuse => format!("misuse of {}", harmless(&finding.objects.join(", "))),
        kind => format!("{} on {}", kind.text(), harmless(&finding.objects.join(", "))),
    };
    let sites: Vec<&str> = finding.sides.iter().map(|s| site_text(&s.site)).filter(|s| !s.is_empty()).collect();
    if let Some((last, others)) = sites.split_last() {
        let others = others.join(", ");
        line += ": ";
        line += &harmless(&others);
        line += if others.is_empty() { "" } else { " and " };
        line += &harmless(last);
    }
    line
}

/// The sides in aligned columns (thread, operation, event, site, locks), each with its stack below, and where its
/// locks were taken.
fn sides(sides: &[Side], style: Style, out: &mut dyn io::Write) -> io::Result<()> {
    let cells = |side: &Side| {
        let site = if side.site.is_empty() { String::new() } else { format!("at {}", harmless(site_text(&side.site))) };
        [
            harmless(&side.thread).into_owned(),
            harmless(&side.op).into_owned(),
            format!("event {}", side.event),
            site,
            match side.locks_held.as_slice() {
                [] => "holding no lock".to_owned(),
                locks => format!("holding {}", harmless(&locks.join(", "))),
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
        stack(callers(&side.site, &side.stack), 3 * INDENT, style, out)?;
        let taken = side.locks_held.iter().zip(&side.lock_sites).filter(|(_, site)| !site.is_empty());
        for (lock, site) in taken.take(SHOWN) {
            let taken = format!("{lock} taken at {}", site_text(site));
            writeln!(out, "{}{}", pad("", 3 * INDENT), style.dim(&harmless(&taken)))?;
        }
    }
    Ok(())
}

/// The frames of a call stack, one below the other.
fn stack(frames: &[String], indent: usize, style: Style, out: &mut dyn io::Write) -> io::Result<()> {
    for frame in frames {
        writeln!(out, "{}{}", pad("", indent), style.dim(&harmless(site_text(frame))))?;
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
