//! One fact each: kinds of symbols and sections that a random program does not have.
