//! `foretrace man`: the manual page, with the options of every command on the one page.

use crate::args::Cli;
use anyhow::Result;
use clap::CommandFactory;
use clap_mangen::Man;

/// The page in roff.
pub(super) fn page() -> Result<Vec<u8>> {
    let mut command = Cli::command();
    command.build();
    let mut page = Vec::new();
    let man = Man::new(command.clone());
    man.render_title(&mut page)?;
    man.render_name_section(&mut page)?;
    man.render_synopsis_section(&mut page)?;
    man.render_description_section(&mut page)?;
    man.render_options_section(&mut page)?;
    for sub in command.get_subcommands().filter(|sub| sub.get_name() != "help") {
        page.extend_from_slice(format!(".SH FORETRACE {}\n", sub.get_name().to_uppercase()).as_bytes());
        let about = sub.get_about().map(ToString::to_string).unwrap_or_default();
        page.extend_from_slice(format!("{about}.\n").as_bytes());
        let man = Man::new(sub.clone().display_name(format!("foretrace {}", sub.get_name())));
        man.render_synopsis_section(&mut page)?;
        man.render_options_section(&mut page)?;
        man.render_extra_section(&mut page)?;
    }
    man.render_extra_section(&mut page)?;
    Ok(page)
}
