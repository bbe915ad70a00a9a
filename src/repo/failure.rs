//! What libgit2 reports, said the way git says it.

use crate::error::Error;
use crate::exit_code::ExitCode;

/// The repository could not answer.
pub(super) fn failure(message: impl Into<String>) -> Error {
    Error::new(message).exit_code(ExitCode::Repository)
}

/// `attempt` says what was tried: "read the index".
pub(super) fn failed(attempt: &str, error: &git2::Error) -> Error {
    failure(format!("cannot {attempt}: {}", error.message()))
}

/// The same for a file of the working tree or the git directory.
pub(super) fn failed_file(attempt: &str, error: &std::io::Error) -> Error {
    failure(format!("cannot {attempt}: {error}"))
}

pub(super) fn cannot_open(error: &git2::Error) -> Error {
    match error.code() {
        git2::ErrorCode::NotFound => {
            failure("not a git repository (or any of the parent directories)")
                .hint("run 'git rts' inside a repository, or name it with GIT_DIR")
        }
        git2::ErrorCode::Owner => failure("the repository belongs to another user")
            .hint("if you trust it, run 'git config --global --add safe.directory <path>'"),
        _ if error.message().contains("partialclone") => {
            failure("partial clones are not supported: blobs may be missing")
                .hint("clone without '--filter'; '--depth' is fine")
        }
        _ if error.message().contains("object format") => failure(
            "SHA-256 repositories are not supported: the git library reads SHA-1 alone",
        )
        .hint("there is no way around it but a repository with 'git init --object-format=sha1'"),
        _ => failed("open the repository", error),
    }
}
