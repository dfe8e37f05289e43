//! Polynomials modulo a power of a prime, in digits to the base of that prime.
//!
//! The moduli p^k of Doröz–Hu–Sunar (2014) have no transform of their own. A polynomial modulo p^k
//! is kept in k rows of digits to the base p, so that the next lower modulus, digits for key
//! switching and division by p are all a matter of rows. Products are taken block by block: `block`
//! rows at a time make a polynomial of small integers, whose products with others are exact modulo
//! a few transform primes below 2^50, the same ones for every k; they are brought back to digits,
//! and carried, once for each sum of products.
//!
//! **Centered digits.** The rows of x are the digits of x + (p^k - 1)/2. As the digits of (p^k -
//! 1)/2 are all h = (p - 1)/2, any run of rows, less h in each, is the centered remainder of a
//! centered quotient: dropping high rows reduces modulo a lower power of p, dropping low rows
//! divides with rounding to the nearest integer.

mod exact;
mod integer;
mod inverse;
mod reconstruction;
mod ring;
mod rows;
mod windows;

pub use inverse::share_of_units;
pub use ring::{AdicPoly, AdicRing};
pub use windows::Windows;
