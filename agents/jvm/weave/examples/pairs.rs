//! Writes the programs of `tests/weave/pairs.table` into a folder: `pairs OUT RELEASE`. Also writes `pairs.txt`: for
//! each program its name, `safe` or `racy`, and its row.

#[path = "../tests/weave/pairs.rs"]
#[allow(unreachable_pub, reason = "it is the tests'")]
mod pairs;

use std::error::Error;
use std::fmt::Write;
use std::path::Path;

fn main() -> Result<(), Box<dyn Error>> {
    let [out, release] =
        std::env::args().skip(1).collect::<Vec<_>>().try_into().map_err(|_| "usage: pairs OUT RELEASE")?;
    let (out, release) = (Path::new(&out), release.parse::<u16>()?);
    std::fs::create_dir_all(out)?;
    let mut list = String::new();
    for program in pairs::programs().iter().filter(|program| program.release <= release) {
        std::fs::write(out.join(format!("{}.java", program.name)), &program.source)?;
        writeln!(list, "{} {} {}", program.name, if program.is_racy { "racy" } else { "safe" }, program.row)?;
    }
    std::fs::write(out.join("pairs.txt"), list)?;
    Ok(())
}
