//! Fixed-point numbers: areas of rectangles, truncated to the precision of their sides, and which of them are below a limit.
use everlevel::scheme::params;
use everlevel::{Client, Comparison, DigitMethod, Error, NextUse, OptIn, Params, Scheme, Truncation};

/// Numbers are multiples of 1/257: one digit to the base p = 257 after the point. A product has two, so one has to go.
const ONE: i64 = 257;
/// 32.5, rounded.
const LIMIT: i64 = 65 * ONE / 2;

fn main() -> Result<(), Error> {
    // BFV modulo 257^3, with enough modulus for a truncation and a comparison (depth 10 + 17) after a bootstrapping. Insecure: a toy ring.
    let mut spec = params::spec("insecure_bfv-257-n8")?;
    (spec.name, spec.plain_exponent, spec.base_bits, spec.words) = ("insecure_bfv-257e3-n8".into(), 3, 50, 24);
    let params = Params::new(spec, OptIn::InsecureResearch)?;
    let mut rng = everlevel::system_rng()?;
    let client = Client::new(&params, &mut rng);
    let server = client.server(&mut rng)?;

    let sides = |step: i64| -> Vec<i64> { (0..params.slots() as i64).map(|i| 77 + step * i).collect() };
    let (lengths, widths) = (sides(21), sides(13));
    let length = server.load(client.encrypt_signed(&lengths, &mut rng)?);
    let width = server.load(client.encrypt_signed(&widths, &mut rng)?);

    // Bootstrapping is for numbers modulo 257^3: what is needed later has to be there before digits go.
    let product = server.mul(&length, &width)?;
    let product = server.load(server.bootstrap(&product.get())?);

    // To the nearest multiple of 1/257, modulo 257^2 from here on; and less than 32.5, as 0 or 1 modulo 257.
    let method = DigitMethod::Geelen { extra_depth: 0 };
    let truncation = Truncation::new(257, 3, 1, method)?;
    let comparison = Comparison::new(257, 2, method)?;
    let area = server.apply(&product, |s, x| truncation.round(s, x, NextUse::Product))?;
    let small = server.apply(&area, |s, x| comparison.is_negative(s, &s.add_scalar(x, -LIMIT)?))?;

    let rounded = |(x, y): (&i64, &i64)| (2 * x * y + ONE).div_euclid(2 * ONE);
    let expected: Vec<i64> = lengths.iter().zip(&widths).map(rounded).collect();
    assert_eq!(client.decrypt_signed(&area.get())?, expected);
    let expected: Vec<u64> = expected.iter().map(|x| u64::from(*x < LIMIT)).collect();
    assert_eq!(client.decrypt(&small.get())?, expected);
    println!("{} areas, {} of them below 32.5, all exact", expected.len(), expected.iter().sum::<u64>());
    Ok(())
}
