//! Coverage back ends: the raw profile of one test becomes the functions and lines that it executed.

pub mod gcov;
