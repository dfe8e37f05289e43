//! What the page does, without a browser: a table from comma-separated values to an answer.

mod page;
mod round_trip;
