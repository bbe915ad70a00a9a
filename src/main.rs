//! The entrance: parse the command line, run the verb, turn errors into exit codes.

use std::process::ExitCode;

use anstyle::AnsiColor;
use clap::{ColorChoice, Parser};

use git_rts::commands::{self, Cli};

fn main() -> ExitCode {
    let cli = Cli::parse();
    match cli.color {
        ColorChoice::Auto => {}
        ColorChoice::Always => anstream::ColorChoice::Always.write_global(),
        ColorChoice::Never => anstream::ColorChoice::Never.write_global(),
    }
    match commands::run(&cli.command) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            let (red, yellow) = (
                AnsiColor::Red.on_default().bold(),
                AnsiColor::Yellow.on_default(),
            );
            anstream::eprintln!("{red}error:{red:#} {error}");
            for hint in &error.hints {
                anstream::eprintln!("{yellow}hint:{yellow:#} {hint}");
            }
            error.exit_code.into()
        }
    }
}
