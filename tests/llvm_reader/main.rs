//! Our reader of clang's coverage data against llvm-cov, llvm-profdata and llvm_profparser, on small programs built with three versions of clang.

#![allow(clippy::unwrap_used, clippy::panic)]

mod agreement;
mod endings;
mod hostile;
mod kinds;
mod llvm_cov;
mod ours;
mod profparser;
mod toolchain;
