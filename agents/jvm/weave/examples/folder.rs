//! Weaves hooks into every class file of a folder: `folder IN OUT`. Prints what was skipped, and how long it took.

use std::error::Error;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

fn classes(folder: &Path, found: &mut Vec<PathBuf>) -> std::io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        if path.is_dir() {
            classes(&path, found)?;
        } else if path.extension().is_some_and(|extension| extension == "class") {
            found.push(path);
        }
    }
    Ok(())
}

fn main() -> Result<(), Box<dyn Error>> {
    let [from, to] = std::env::args().skip(1).collect::<Vec<_>>().try_into().map_err(|_| "usage: folder IN OUT")?;
    let mut files = Vec::new();
    classes(Path::new(&from), &mut files)?;
    files.sort();
    let (mut sites, mut left, mut took) = (0, 0, Duration::ZERO);
    for path in &files {
        let file = fs::read(path)?;
        let begun = Instant::now();
        let woven = weave::weave(&file, sites, &());
        took += begun.elapsed();
        let woven = match woven {
            Ok(woven) => woven,
            Err(error) => {
                println!("{}: {error}", path.display());
                continue;
            }
        };
        sites += woven.sites.len() as u32;
        left += woven.skipped.len();
        for (method, error) in &woven.skipped {
            println!("{}: method {method}: {error}", path.display());
        }
        let out = Path::new(&to).join(path.strip_prefix(&from)?);
        fs::create_dir_all(out.parent().unwrap_or(Path::new("")))?;
        fs::write(out, woven.file.as_deref().unwrap_or(&file))?;
    }
    println!("{} classes, {sites} sites, {left} methods left alone, {took:?}", files.len());
    Ok(())
}
