//! Sessions with a real server process that does one thing wrong at a time.

mod calls;
mod concurrent;
mod conduct;
mod fixture;
mod handshakes;
mod lists;
mod shutdowns;
