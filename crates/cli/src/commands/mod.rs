//! The commands, one file each. A command gives its exit code, or an error for code 2.

mod cc;
mod check;
mod confirm;
mod convert;
mod demo;
mod doctor;
mod generate;
mod locks;
mod man;
mod record;
mod run;
mod sdk;
mod show;
mod spec;
mod weave;
mod window;

use crate::args::{Cli, Command};
use crate::output::Target;
use anyhow::Result;
use clap::CommandFactory;
use std::io::Write;
use std::path::Path;

/// Does what the command line says.
pub(crate) fn run(cli: Cli) -> Result<u8> {
    match cli.command {
        Command::Demo(args) => demo::run(&args),
        Command::Run(args) => run::run(&args),
        Command::Confirm(args) => confirm::run(&args),
        Command::Record(args) => record::run(&args),
        Command::Check(args) => check::run(&args),
        Command::Show(args) => show::run(&args),
        Command::Spec(args) => spec::run(&args),
        Command::Locks(args) => locks::run(&args),
        Command::Window(args) => window::run(&args),
        Command::Convert(args) => convert::run(&args),
        Command::Gen(args) => generate::run(&args),
        Command::Cc(args) => cc::run(cc::Language::C, &args.args),
        Command::Cpp(args) => cc::run(cc::Language::Cpp, &args.args),
        Command::Weave(args) => weave::run(&args),
        Command::Sdk(args) => sdk::run(&args),
        Command::Doctor => doctor::run(),
        Command::Completions(args) => {
            let mut script = Vec::new();
            clap_complete::generate(args.shell, &mut Cli::command(), "foretrace", &mut script);
            print(&script)
        }
        Command::Man => print(&man::page()?),
    }
}

/// Writes lines to standard output, made harmless for a terminal.
fn print_lines(text: &str) -> Result<u8> {
    let lines: String = text.lines().map(|line| report::harmless(line).into_owned() + "\n").collect();
    print(lines.as_bytes())
}

/// Writes to standard output.
fn print(bytes: &[u8]) -> Result<u8> {
    let mut out = Target::create(Path::new("-"))?;
    out.write_all(bytes)?;
    out.flush()?;
    Ok(0)
}
