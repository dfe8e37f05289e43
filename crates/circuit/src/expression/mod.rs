//! A small language of programs on encrypted vectors, slot by slot: `y = 3*x*(1-x); total =
//! sum(rotate(y, 5)^2)`.
//!
//! ```text
//! program    := statement { ";" statement } [ ";" ]
//! statement  := name "=" value
//! value      := both { "|" both }
//! both       := comparison { "&" comparison }
//! comparison := shift [ ( "<" | "<=" | ">" | ">=" | "==" | "!=" ) shift ]
//! shift      := sum { ( "<<" | ">>" ) sum }
//! sum        := product { ( "+" | "-" ) product }
//! product    := factor { ( "*" | "/" | "%" ) factor }
//! factor     := { "-" } power | "!" power
//! power      := atom [ "^" integer ]
//! atom       := integer | name | "(" value ")" | function "(" value { "," [ "-" ] integer } ")"
//!             | typed "(" value { "," value } ")" | named "(" value "," [ value "," ] name ")"
//! ```
//! Names consist of letters, digits and `_`, and do not begin with a digit. Integers are reduced
//! modulo p^r and stand for a vector with this value in every slot. Functions: `rotate(x, k)`, the
//! columns by k to the left; `rotate(x, k, i)`, along dimension i of the slots; `swap_rows(x)`;
//! `sum(x)`, all slots, in every slot; `refresh(x)`, a bootstrapping. White space and line ends
//! have no meaning; `#` begins a comment that ends with the line.
//!
//! `| & < <= > >= == != << >> / % !`, the functions of [`TypedFunction`] and of
//! [`NamedFunction`] are for columns of typed integers, which another crate computes on;
//! [`Program::run`] refuses them.
//!
//! A program is parsed ([`Program::parse`]), which reports every mistake that can be found without
//! ciphertexts, with its position. Then it runs on any scheme ([`Program::run`]), at any depth,
//! since a [`Session`](crate::Session) bootstraps. A run on the no-op scheme determines the keys
//! that it needs.
//!
//! ```
//! use std::collections::BTreeMap;
//! use std::sync::Arc;
//!
//! use everlevel_circuit::Session;
//! use everlevel_circuit::expression::Program;
//! use everlevel_scheme::{NoOp, OptIn, Params, Plaintext};
//!
//! let program = Program::parse("y = 3*x*(1 - x); z = rotate(y, 1) + x^5")?;
//! assert_eq!(program.inputs().collect::<Vec<_>>(), ["x"]);
//!
//! // Insecure: a toy ring.
//! let params = Params::named("insecure_bgv-257-n8", OptIn::InsecureResearch)?;
//! let auto = Session::leveled(Arc::new(NoOp::new(&params, 1)));
//! let x = auto.share(auto.scheme().encrypt(&Plaintext::encode(&params, &[2, 7])?)?);
//! let out = program.run(&auto, &BTreeMap::from([("x".to_string(), x)]), &mut |_| ())?;
//! let z = auto.scheme().decrypt(&out["z"].get())?.decode(&params)?;
//! assert_eq!(z[0], (257 - 3 * 7 * 6 + 32) % 257);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod error;
mod parse;
mod rows;
mod run;
mod syntax;
mod token;

pub use error::ExpressionError;
pub use rows::Rows;
pub use run::{Blocks, Values};
pub use syntax::{
    Function, Kind, MAX_BYTES, MAX_EXPONENT, MAX_NESTING, MAX_OPERATORS, NamedFunction, Node,
    Operator, Program, Statement, TypedFunction,
};
