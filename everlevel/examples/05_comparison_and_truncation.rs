//! Example 5. Comparison and truncation: fixed-point numbers. Areas of rectangles, rounded to the
//! precision of their sides, and which of them are below a limit.
//!
//! A number modulo p^4 has four digits to the base p = 17, one of them after the point. A product
//! has two after the point, so one has to go: that is a digit removal, as in bootstrapping. A
//! comparison removes all digits but the highest, whose sign is a polynomial.
//!
//! `cargo run --release -p everlevel --example 05_comparison_and_truncation`; with `-- --secure` at
//! 128 bits: 1540 areas, in 0.4 GiB.
use std::error::Error;

use everlevel::{OptIn, Params};

/// Numbers are multiples of 1/17.
const ONE: i64 = 17;
/// 32.5, rounded.
const LIMIT: i64 = 65 * ONE / 2;

mod client {
    use std::error::Error;

    use everlevel::wire::{Metadata, ReadOptions, ciphertexts, results, server_keys};
    use everlevel::{Client, KeyPlan, Params, ServerKeys, system_rng};

    /// Has the secret key.
    pub struct Surveyor(Client);

    impl Surveyor {
        pub fn new(params: &Params) -> Result<Self, Box<dyn Error>> {
            Ok(Surveyor(Client::new(params, &mut system_rng()?)))
        }

        pub fn server_keys(&self) -> Result<Vec<u8>, Box<dyn Error>> {
            let plan = KeyPlan::relinearization(self.0.params());
            let keys = ServerKeys::generate(self.0.secret(), &plan, &mut system_rng()?, |_, _| ())?;
            Ok(server_keys::to_bytes(&keys, &Metadata::new())?)
        }

        pub fn upload(&self, lengths: &[i64], widths: &[i64]) -> Result<Vec<u8>, Box<dyn Error>> {
            let mut rng = system_rng()?;
            let sides = [
                self.0.encrypt_signed(lengths, &mut rng)?,
                self.0.encrypt_signed(widths, &mut rng)?,
            ];
            Ok(ciphertexts::to_bytes(self.0.params(), &sides, &Metadata::new())?)
        }

        /// Areas, and 1 for those below the limit.
        pub fn read(&self, answer: &[u8]) -> Result<[Vec<i64>; 2], Box<dyn Error>> {
            let (found, _) = results::from_bytes(self.0.params(), answer, &ReadOptions::default())?;
            let open = |x| {
                Ok::<_, Box<dyn Error>>(
                    self.0.secret().decrypt_compact(x)?.decode_signed(self.0.params())?,
                )
            };
            let [area, small] = &found[..] else { return Err("expected two results".into()) };
            Ok([open(area)?, open(small)?])
        }
    }
}

mod server {
    use std::error::Error;

    use everlevel::wire::{
        BoundPolicy, Encryption, Metadata, ReadOptions, ciphertexts, results, server_keys,
    };
    use everlevel::{
        Arithmetic, Comparison, DigitKind, DigitMethod, Evaluator, NextUse, Params, Scheme,
        Truncation,
    };

    pub fn areas(params: &Params, keys: &[u8], upload: &[u8]) -> Result<Vec<u8>, Box<dyn Error>> {
        let (keys, _) = server_keys::from_bytes(params, keys, &ReadOptions::default())?;
        let fresh = ReadOptions::with_bounds(BoundPolicy::Fresh(Encryption::Secret));
        let (sides, _) = ciphertexts::from_bytes(params, upload, &fresh)?;
        let [length, width] = &sides[..] else { return Err("expected two columns".into()) };

        let method = DigitMethod::new(DigitKind::Geelen);
        let (truncation, comparison) =
            (Truncation::new(17, 4, 1, method)?, Comparison::new(17, 3, method)?);
        println!("truncation: {:?}, comparison: {:?}", truncation.costs(), comparison.costs());
        // Bootstrapping is for numbers modulo 17^4: what is needed later has to be there before
        // digits go. Here a fresh ciphertext has enough.
        let scheme = Evaluator::new(keys);
        let product = scheme.mul(length, width, NextUse::Product)?;
        // To the nearest multiple of 1/17, modulo 17^3 from here on; and less than 32.5, as 0 or 1
        // modulo 17.
        let area = truncation.round(&scheme, &product, NextUse::Product)?;
        let small = comparison.is_negative(&scheme, &scheme.add_scalar(&area, -super::LIMIT)?)?;
        println!(
            "bits left: {:.0}, {:.0}",
            scheme.capacity_bits(&area),
            scheme.capacity_bits(&small)
        );
        let compact = [area.compact_for_decryption(params)?, small.compact_for_decryption(params)?];
        Ok(results::to_bytes(params, &compact, &Metadata::new())?)
    }
}

pub(crate) fn main() -> Result<(), Box<dyn Error>> {
    let mut spec = everlevel::scheme::params::spec("bgv-17e4-m38309")?;
    let params = match std::env::args().any(|a| a == "--secure") {
        true => Params::new(spec, OptIn::SecureOnly)?,
        false => {
            // A toy ring of 56 slots.
            (spec.name, spec.index, spec.bootstrap) = ("insecure_bgv-17e4-m435".into(), 435, None);
            Params::new(spec, OptIn::InsecureResearch)?
        }
    };
    // Sides from 1 to 11.9: areas below 144.5, the largest number with three digits.
    let sides = |step: i64| -> Vec<i64> {
        (0..params.slots() as i64).map(|i| ONE + i * step % 186).collect()
    };
    let (lengths, widths) = (sides(21), sides(13));

    let surveyor = client::Surveyor::new(&params)?;
    let answer =
        server::areas(&params, &surveyor.server_keys()?, &surveyor.upload(&lengths, &widths)?)?;
    let [areas, small] = surveyor.read(&answer)?;

    let rounded = |(x, y): (&i64, &i64)| (2 * x * y + ONE).div_euclid(2 * ONE);
    let expected: Vec<i64> = lengths.iter().zip(&widths).map(rounded).collect();
    assert_eq!(areas, expected);
    assert_eq!(small, expected.iter().map(|x| i64::from(*x < LIMIT)).collect::<Vec<_>>());
    println!("{} areas, {} of them below 32.5, all exact", areas.len(), small.iter().sum::<i64>());
    Ok(())
}
