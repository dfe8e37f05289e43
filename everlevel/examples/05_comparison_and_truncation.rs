//! Example 5. Comparison and truncation: fixed-point numbers. Areas of rectangles, rounded to the
//! precision of their sides, and which of them are below a limit.
//!
//! A number modulo p^4 has four digits to the base p = 17, one of them after the point. A product
//! has two after the point, so one has to go: that is a digit removal, as in bootstrapping. A
//! comparison removes all digits but the highest, whose sign is a polynomial. Arithmetic modulo
//! 17^4 wraps: the client states the range of its numbers, from which those of the results follow,
//! and a truncation or a comparison of what may have wrapped is refused.
//!
//! `cargo run --release --example 05_comparison_and_truncation`; with `-- --secure` at
//! 128 bits: 1540 areas, in 0.4 GiB.
use std::error::Error;

use everlevel::{OptIn, Params};

/// Numbers are multiples of 1/17.
const ONE: i64 = 17;
/// 32.5, rounded.
const LIMIT: i64 = 65 * ONE / 2;
/// Sides from 1 to 11.9.
const SIDES: (i64, i64) = (ONE, ONE + 185);

mod client {
    use std::error::Error;

    use everlevel::files::Bytes;
    use everlevel::{Client, KeyPlan, Params, ValueRange, system_rng};

    /// Has the secret key.
    pub struct Surveyor(Client);

    impl Surveyor {
        pub fn new(params: &Params) -> Result<Self, Box<dyn Error>> {
            Ok(Surveyor(Client::new(params, &mut system_rng()?)))
        }

        pub fn server_keys(&self) -> Result<Vec<u8>, Box<dyn Error>> {
            let params = self.0.params();
            let keys = self.0.server_keys(&KeyPlan::relinearization(params), &mut system_rng()?)?;
            Ok(keys.to_bytes(params)?)
        }

        pub fn upload(&self, lengths: &[i64], widths: &[i64]) -> Result<Vec<u8>, Box<dyn Error>> {
            let mut rng = system_rng()?;
            let (low, high) = super::SIDES;
            let range = ValueRange::new(low.into(), high.into()).ok_or("no range")?;
            Ok(self.0.upload_within(&[
                (self.0.encrypt_modular_signed(lengths, &mut rng)?, range),
                (self.0.encrypt_modular_signed(widths, &mut rng)?, range),
            ])?)
        }

        /// Areas, and 1 for those below the limit.
        pub fn read(&self, answer: &[u8]) -> Result<[Vec<i64>; 2], Box<dyn Error>> {
            Ok(self.0.read_integers(answer)?.try_into().map_err(|_| "expected two results")?)
        }
    }
}

mod server {
    use std::error::Error;

    use everlevel::files::Bounds;
    use everlevel::lab::{DigitKind, DigitMethod, Scheme};
    use everlevel::{Comparison, Keys, Params, Server, Truncation, Value};

    pub fn areas(params: &Params, keys: &[u8], upload: &[u8]) -> Result<Vec<u8>, Box<dyn Error>> {
        let server = Server::leveled(Keys::from_bytes(params, keys)?);
        let sides = server.receive(upload, &Bounds::Fresh)?;
        let [length, width] = &sides[..] else { return Err("expected two columns".into()) };

        let method = DigitMethod::new(DigitKind::Geelen);
        let (truncation, comparison) =
            (Truncation::new(17, 4, 1, method)?, Comparison::new(17, 3, method)?);
        println!("truncation: {:?}, comparison: {:?}", truncation.costs(), comparison.costs());
        // Bootstrapping is for numbers modulo 17^4: what is needed later has to be there before
        // digits go. Here a fresh ciphertext has enough.
        let product = server.mul(length, width)?;
        // To the nearest multiple of 1/17, modulo 17^3 from here on; and less than 32.5, as 0 or 1
        // modulo 17.
        let area = server.session().round(&product, &truncation)?;
        let small =
            server.session().is_negative(&server.add_scalar(&area, -super::LIMIT)?, &comparison)?;
        let left = |x: &Value| server.evaluator().capacity_bits(&x.get());
        println!("bits left: {:.0}, {:.0}", left(&area), left(&small));
        if let [Some(area), Some(small)] = [area.range(), small.range()] {
            println!("ranges: {area} and {small}");
        }
        Ok(server.answer([&area, &small])?)
    }
}

pub(crate) fn main() -> Result<(), Box<dyn Error>> {
    let mut spec = everlevel::ParamsSpec::named("bgv-17e4-m38309")?;
    let params = match std::env::args().any(|a| a == "--secure") {
        true => Params::new(spec, OptIn::SecureOnly)?,
        false => {
            // A toy ring of 56 slots.
            (spec.name, spec.index, spec.bootstrap) = ("insecure_bgv-17e4-m435".into(), 435, None);
            Params::new(spec, OptIn::InsecureResearch)?
        }
    };
    // Areas below 144.5, the largest number with three digits.
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
