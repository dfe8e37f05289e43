//! Example 3. Private statistics: the owner of a table uploads two encrypted columns; a server
//! returns five encrypted sums, and never sees a number. Means, deviations and the correlation
//! follow.
//!
//! Owner and server share nothing but bytes. The parameter set is planned for the purpose, at 128
//! bits of security, and the server's keys are those of one program.
//!
//! `cargo run --release -p everlevel --example 03_private_statistics`
use std::error::Error;

use everlevel::{Depth, Minimize, Requirements};

/// What the server computes: known to both.
const PROGRAM: &str = "sx = sum(x); sy = sum(y); sxx = sum(x^2); syy = sum(y^2); sxy = sum(x * y)";

mod owner {
    use std::error::Error;

    use everlevel::files::{Bytes, Metadata, params_to_bytes};
    use everlevel::{Client, Params, Program, program_keys, system_rng};

    /// Has the secret key.
    pub struct Owner(Client);

    impl Owner {
        pub fn new(params: &Params) -> Result<Self, Box<dyn Error>> {
            Ok(Owner(Client::new(params, &mut system_rng()?)))
        }

        /// Once: parameters and server keys.
        pub fn introduce(&self) -> Result<[Vec<u8>; 2], Box<dyn Error>> {
            let params = self.0.params();
            let plan = program_keys(params, &Program::parse(super::PROGRAM)?)?;
            let keys = self.0.server_keys(&plan, &mut system_rng()?)?;
            Ok([params_to_bytes(params)?, keys.to_bytes(params, &Metadata::new())?])
        }

        pub fn upload(&self, x: &[u64], y: &[u64]) -> Result<Vec<u8>, Box<dyn Error>> {
            let mut rng = system_rng()?;
            Ok(self.0.upload(&[
                self.0.encrypt_modular(x, &mut rng)?,
                self.0.encrypt_modular(y, &mut rng)?,
            ])?)
        }

        /// The first slot of every result.
        pub fn read(&self, answer: &[u8]) -> Result<Vec<u64>, Box<dyn Error>> {
            let results = self.0.read_answer(answer)?;
            results.iter().map(|x| Ok(x.decode(self.0.params())?[0])).collect()
        }
    }
}

mod server {
    use std::error::Error;

    use everlevel::files::{Bounds, params_from_bytes};
    use everlevel::{Keys, OptIn, Program, Server};

    /// Bytes in, bytes out. A set below 128 bits is refused here, whatever the sender says.
    pub fn answer(params: &[u8], keys: &[u8], upload: &[u8]) -> Result<Vec<u8>, Box<dyn Error>> {
        let params = params_from_bytes(params, OptIn::SecureOnly)?;
        let server = Server::leveled(Keys::from_bytes(&params, keys)?);
        // Noise bounds are not taken from the sender: these are fresh encryptions, or they are
        // refused.
        let columns = server.receive(upload, &Bounds::Fresh)?;

        let program = Program::parse(super::PROGRAM)?;
        let inputs = program.inputs().map(String::from).zip(columns).collect();
        let found = server.run(&program, &inputs, &mut |_| ())?;
        Ok(server.answer(program.outputs().map(|name| &found[name]))?)
    }
}

pub(crate) fn main() -> Result<(), Box<dyn Error>> {
    // Ages, and monthly incomes in hundreds. Sums of squares stay below 65537^2, the plaintext
    // modulus.
    let people = 1000u64;
    let ages: Vec<u64> = (0..people).map(|i| 18 + i * 37 % 60).collect();
    let incomes: Vec<u64> = ages.iter().zip(0..).map(|(age, i)| 8 * age + i * i % 500).collect();

    let requirements = Requirements {
        plain_modulus: 65537 * 65537,
        slots: people as usize,
        depth: Depth::Levels(1),
        minimize: Minimize::Latency,
    };
    let params = requirements.params()?;
    println!(
        "{}: {} slots, {:.1} bits of security",
        params.name(),
        params.slots(),
        params.security().bits()
    );

    let owner = owner::Owner::new(&params)?;
    let [set, keys] = owner.introduce()?;
    let upload = owner.upload(&ages, &incomes)?;
    let answer = server::answer(&set, &keys, &upload)?;
    let sums = owner.read(&answer)?;
    println!("bytes: keys {}, upload {}, answer {}", keys.len(), upload.len(), answer.len());

    let dot = |a: &[u64], b: &[u64]| a.iter().zip(b).map(|(a, b)| a * b).sum::<u64>();
    let ones = vec![1; people as usize];
    let expected = [
        (&ages, &ones),
        (&incomes, &ones),
        (&ages, &ages),
        (&incomes, &incomes),
        (&ages, &incomes),
    ];
    assert_eq!(sums, expected.map(|(a, b)| dot(a, b)));

    let [sx, sy, sxx, syy, sxy] = [0, 1, 2, 3, 4].map(|i| sums[i] as f64 / people as f64);
    let [dx, dy] = [sxx - sx * sx, syy - sy * sy].map(f64::sqrt);
    println!(
        "age {sx:.1} ± {dx:.1}, income {sy:.1} ± {dy:.1}, correlation {:.3}: five sums, all exact",
        (sxy - sx * sy) / (dx * dy)
    );
    Ok(())
}
