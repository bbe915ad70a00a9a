//! What one run of a test executed, read from the data that the compiler's instrumentation leaves behind.

pub mod gcov;
pub mod llvm;
