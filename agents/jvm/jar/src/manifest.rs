//! Removes the digests of signatures from a manifest: what was signed has changed.

/// Whether an entry is a part of a signature, by its name.
pub(crate) fn is_signature(name: &[u8]) -> bool {
    let name = name.to_ascii_uppercase();
    let Some(file) = name.strip_prefix(b"META-INF/").filter(|file| !file.contains(&b'/')) else { return false };
    file.starts_with(b"SIG-") || [&b".SF"[..], b".RSA", b".DSA", b".EC"].iter().any(|ending| file.ends_with(ending))
}

/// Whether an entry is the manifest.
pub(crate) fn is_manifest(name: &[u8]) -> bool {
    name.eq_ignore_ascii_case(b"META-INF/MANIFEST.MF")
}

/// The manifest without attributes of digests, and without sections that had nothing else. All else stays as it is.
pub(crate) fn without_digests(manifest: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(manifest.len());
    let mut section = Section::default();
    let mut is_first = true;
    for line in manifest.split_inclusive(|&byte| byte == b'\n') {
        let is_empty = line.iter().all(|byte| matches!(byte, b'\r' | b'\n'));
        if is_empty {
            section.end(line, is_first, &mut out);
            is_first = false;
        } else {
            section.add(line);
        }
    }
    section.end(b"", is_first, &mut out);
    out
}

#[derive(Default)]
struct Section {
    kept: Vec<u8>,
    /// How many attributes stay, besides the name; and how many do not.
    others: usize,
    left_out: usize,
    /// The last attribute is left out: so are the lines that continue it.
    is_left_out: bool,
}

impl Section {
    fn add(&mut self, line: &[u8]) {
        if line.starts_with(b" ") {
            if !self.is_left_out {
                self.kept.extend_from_slice(line);
            }
            return;
        }
        let name = line.split(|&byte| byte == b':').next().unwrap_or_default().to_ascii_lowercase();
        self.is_left_out = name.ends_with(b"-digest") || name.windows(8).any(|part| part == b"-digest-");
        if self.is_left_out {
            self.left_out += 1;
            return;
        }
        self.others += usize::from(name != b"name");
        self.kept.extend_from_slice(line);
    }

    /// Writes the section, and the empty line that ends it.
    fn end(&mut self, line: &[u8], is_first: bool, out: &mut Vec<u8>) {
        if is_first || self.others > 0 || self.left_out == 0 {
            out.append(&mut self.kept);
            out.extend_from_slice(line);
        }
        *self = Section::default();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn digests_are_left_out() {
        let manifest = "Manifest-Version: 1.0\r\nMain-Class: a.Main\r\nSHA-256-Digest-Manifest: x\r\n\r\n\
            Name: a/Main.class\r\nSHA-256-Digest: abc\r\n def\r\n\r\n\
            Name: a/\r\nSealed: true\r\nSHA1-Digest: x\r\n\r\nName: b/\r\nSealed: true\r\n\r\n";
        let without = "Manifest-Version: 1.0\r\nMain-Class: a.Main\r\n\r\n\
            Name: a/\r\nSealed: true\r\n\r\nName: b/\r\nSealed: true\r\n\r\n";
        assert_eq!(String::from_utf8_lossy(&without_digests(manifest.as_bytes())), without);
        assert_eq!(without_digests(without.as_bytes()), without.as_bytes());
    }

    #[test]
    fn signatures_are_known_by_their_names() {
        for name in ["META-INF/ME.SF", "META-INF/me.rsa", "META-INF/X.EC", "META-INF/SIG-A"] {
            assert!(is_signature(name.as_bytes()), "{name}");
        }
        for name in ["META-INF/MANIFEST.MF", "META-INF/a/ME.SF", "ME.SF", "META-INF/services/x"] {
            assert!(!is_signature(name.as_bytes()), "{name}");
        }
    }
}
