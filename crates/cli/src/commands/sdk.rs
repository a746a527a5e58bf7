//! `foretrace sdk`: writes out what programs may include or call, as it is inside of this program.

use crate::args::Sdk;
use crate::output::{Target, say};
use anyhow::{Context, Result};
use std::io::Write;
use std::path::Path;

/// The files, with their places below the folder.
const FILES: [(&str, &str); 2] = [
    ("include/foretrace.h", include_str!("../../../../agents/native/include/foretrace.h")),
    ("java/foretrace/Monitor.java", include_str!("../../../../agents/jvm/api/foretrace/Monitor.java")),
];

pub(crate) fn run(args: &Sdk) -> Result<u8> {
    for (name, text) in FILES {
        let path = args.folder.join(name);
        let folder = path.parent().unwrap_or(Path::new("."));
        std::fs::create_dir_all(folder).with_context(|| format!("cannot make {}", folder.display()))?;
        let mut target = Target::create(&path)?;
        target.write_all(text.as_bytes()).with_context(|| format!("cannot write {}", path.display()))?;
        target.finish()?;
        say(&path.display().to_string());
    }
    Ok(0)
}
