//! What the text of a site says: whose code it is, the function, the file and the line.

use crate::site_identity;

/// Before a site in code that is not the project's: the C library, the C++ library, a runtime.
const SYSTEM: char = '!';

/// The function and the place of a site: `deposit bank.c:17` is `bank.c:17` in `deposit`.
///
/// The last word is the place, if it has a line or an offset; the words before it are the function. Any other text is a
/// place without a function.
pub fn split_site(site: &str) -> (Option<&str>, &str) {
    let site = site_text(site).trim();
    if let Some((function, place)) = site.rsplit_once(char::is_whitespace) {
        let place = place.strip_prefix('(').and_then(|place| place.strip_suffix(')')).unwrap_or(place);
        if site_identity(place) != place {
            return (Some(function.trim_end()), place);
        }
    }
    (None, site)
}

/// A site without the mark of system code.
pub fn site_text(site: &str) -> &str {
    site.strip_prefix(SYSTEM).unwrap_or(site)
}

/// Whether a site belongs to a system library or the JDK: because its recorder says so, or by its name.
pub(crate) fn is_of_system(site: &str) -> bool {
    const KNOWN: [&str; 12] = [
        "java.", "javax.", "jdk.", "sun.", "com.sun.", "std::", "core::", "alloc::", "/lib/", "/lib64/", "/usr/lib",
        "libc.so",
    ];
    site.starts_with(SYSTEM) || KNOWN.iter().any(|prefix| site.starts_with(prefix))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn functions_and_places() {
        for (site, function, place) in [
            ("deposit bank.c:17", Some("deposit"), "bank.c:17"),
            ("operator new(unsigned long) new.cc:12:3", Some("operator new(unsigned long)"), "new.cc:12:3"),
            ("!memcpy libc.so.6+0x1f", Some("memcpy"), "libc.so.6+0x1f"),
            ("~Account bank.cc:9", Some("~Account"), "bank.cc:9"),
            ("Main.run (Main.java:12)", Some("Main.run"), "Main.java:12"),
            ("f 0x7f01", Some("f"), "0x7f01"),
            ("Main.java:12", None, "Main.java:12"),
            ("!bank.c:3", None, "bank.c:3"),
            ("17", None, "17"),
            ("behind the mill", None, "behind the mill"),
            (" a.c:1", None, "a.c:1"),
            ("", None, ""),
        ] {
            assert_eq!(split_site(site), (function, place), "{site}");
        }
    }

    #[test]
    fn whose_code_it_is() {
        for site in ["!f a.c:1", "java.util.HashMap.put", "std::thread::spawn", "/lib/x.so+0x1"] {
            assert!(is_of_system(site), "{site}");
        }
        for site in ["f a.c:1", "standard.c:1", "~/lib/a.c:1", ""] {
            assert!(!is_of_system(site), "{site}");
        }
    }
}
