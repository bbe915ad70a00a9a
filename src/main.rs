//! The entrance: parse the command line, run the verb, turn errors into exit codes.

use std::process::ExitCode;

use clap::{ColorChoice, Parser};

use git_rts::commands::{self, Cli};
use git_rts::emit::loudness;
use git_rts::error::Error;
use git_rts::masquerade;

fn main() -> ExitCode {
    if let Some(name) = masquerade::called_as() {
        return match masquerade::stand_in(&name) {
            Ok(code) => ExitCode::from(code),
            Err(error) => failed(&error),
        };
    }
    let cli = Cli::parse();
    match cli.color {
        ColorChoice::Auto => {}
        ColorChoice::Always => anstream::ColorChoice::Always.write_global(),
        ColorChoice::Never => anstream::ColorChoice::Never.write_global(),
    }
    loudness::set(cli.quiet, cli.verbose);
    match commands::run(&cli.command) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => failed(&error),
    }
}

fn failed(error: &Error) -> ExitCode {
    commands::report_error(error);
    error.exit_code.into()
}
