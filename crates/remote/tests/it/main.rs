//! The client against a service that follows a script: what breaks off, what is repeated, what is
//! not believed. What the real one answers is tested with it.

mod answers;
mod script;
