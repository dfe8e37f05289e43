//! The program `everlevel` as its users see it: what it prints, what it refuses, and the files that
//! its roles share.

mod any_index;
mod bad_input;
mod bench_integers;
mod blocks;
mod columns;
mod common;
#[cfg(all(feature = "cuda", feature = "service"))]
mod device_service;
mod devices;
#[cfg(feature = "service")]
mod elsewhere;
mod few_slots;
mod floor;
mod interrupted;
mod json;
mod keyless;
mod levels;
mod measured;
mod mistakes;
mod notes;
mod options;
mod output;
mod owners;
#[cfg(unix)]
mod paths;
mod places;
mod printed;
mod program;
#[cfg(feature = "service")]
mod remote;
mod replaced;
mod roles;
mod search_rows;
mod security;
mod seeded;
mod small_keys;
mod tables;
mod typed;
mod wide_moduli;
mod workload;
