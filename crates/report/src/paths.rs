//! Paths of source files as short as they can be: the last parts that distinguish them from all others of a report.

use crate::{Finding, site_text};
use std::collections::HashMap;

/// What is shown of each path.
#[derive(Clone, Default, Debug)]
pub struct Paths {
    short: HashMap<String, String>,
}

/// The file of a site, and what is behind it: `/src/a.c` and `:12` of `f /src/a.c:12`.
fn file(site: &str) -> Option<(usize, &str, &str)> {
    let word = site.rsplit(char::is_whitespace).next().unwrap_or_default();
    let start = site.len() - word.len();
    let path = crate::site_identity(word);
    path.contains('/').then(|| (start, path, &word[path.len()..])).filter(|(_, path, _)| word.starts_with(path))
}

impl Paths {
    /// Of these sites.
    pub fn of_sites<'a>(sites: impl IntoIterator<Item = &'a str>) -> Paths {
        let mut left: Vec<&str> = sites.into_iter().filter_map(|site| Some(file(site)?.1)).collect();
        left.sort_unstable();
        left.dedup();
        let mut short = HashMap::new();
        let mut parts = 1;
        while !left.is_empty() {
            let mut users: HashMap<&str, usize> = HashMap::new();
            left.iter().for_each(|path| *users.entry(tail(path, parts)).or_default() += 1);
            left.retain(|path| {
                let tail = tail(path, parts);
                let is_last = tail.len() == path.len();
                if users[tail] == 1 || is_last {
                    short.insert((*path).to_owned(), tail.to_owned());
                }
                users[tail] > 1 && !is_last
            });
            parts += 1;
        }
        Paths { short }
    }

    /// Of all that these show.
    pub(crate) fn of_findings(findings: &[Finding]) -> Paths {
        Paths::of_sites(findings.iter().flat_map(|finding| {
            let sides = finding.sides.iter();
            let of_sides = sides.flat_map(|side| side.stack.iter().chain(&side.lock_sites).chain([&side.site]));
            let of_origins = finding.origins.iter().flat_map(|origin| origin.stack.iter().chain([&origin.site]));
            of_sides.chain(of_origins).map(String::as_str)
        }))
    }

    /// A site as it is shown, without the mark of system code.
    pub fn site(&self, site: &str) -> String {
        let site = site_text(site);
        match file(site).and_then(|(start, path, line)| Some((start, self.short.get(path)?, line))) {
            Some((start, short, line)) => format!("{}{short}{line}", &site[..start]),
            None => site.to_owned(),
        }
    }
}

/// The last parts of a path.
fn tail(path: &str, parts: usize) -> &str {
    match path.rmatch_indices('/').nth(parts - 1) {
        Some((at, _)) => &path[at + 1..],
        None => path,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_as_short_as_they_can_be() {
        let sites = ["f /p/a/main.c:3", "!g /p/b/main.c:4", "h /p/b/other.c:5", "Main.java:7", "/p/b/main.c:4:1", "17"];
        let paths = Paths::of_sites(sites);
        let shown: Vec<String> = sites.iter().map(|site| paths.site(site)).collect();
        assert_eq!(shown, ["f a/main.c:3", "g b/main.c:4", "h other.c:5", "Main.java:7", "b/main.c:4:1", "17"]);
        assert_eq!(paths.site("f /not/seen.c:1"), "f /not/seen.c:1");
    }
}
