//! What the fuzz target of the expression language does with a text, at three depths.

use std::collections::BTreeMap;
use std::sync::{Arc, OnceLock};

use everlevel_circuit::Session;
use everlevel_circuit::expression::{Program, Values};
use everlevel_scheme::{NoOp, OptIn, Params, ParamsSpec, Plaintext};

/// Longer programs only take time.
const MAX_TEXT: usize = 1 << 12;

/// A toy set with a few levels: a power of two with slots of degree 1, and an odd index with two
/// dimensions of slots.
fn sets() -> &'static [Params] {
    static ALL: OnceLock<Vec<Params>> = OnceLock::new();
    let set = |(name, index, plain_prime): (&str, u64, u64)| {
        let spec = ParamsSpec {
            base_bits: 36,
            word_bits: 40,
            words: 4,
            ..ParamsSpec::new(name, index, plain_prime)
        };
        Params::new(spec, OptIn::InsecureResearch).expect("a set that holds together")
    };
    ALL.get_or_init(|| {
        [("insecure_fuzz-n4", 32, 97), ("insecure_fuzz-m35", 35, 71)].map(set).into()
    })
}

/// Parses the text; what parses is planned and run on the no-op scheme. Whether it went through on
/// every set.
pub fn expression(bytes: &[u8]) -> bool {
    let Ok(text) = std::str::from_utf8(bytes) else { return false };
    if text.len() > MAX_TEXT {
        return false;
    }
    let program = match Program::parse(text) {
        Ok(program) => program,
        Err(e) => {
            assert!((1..=text.chars().count() + 1).contains(&e.column), "{e}");
            assert_eq!(e.pointer(text).lines().count(), 2);
            return false;
        }
    };
    // A program is the same with other white space.
    let spread: String = text.split('#').next().unwrap_or_default().replace(';', " ;\n ");
    if !text.contains('#') {
        assert_eq!(Program::parse(&spread).map(|p| p.len()), Ok(program.len()));
    }
    sets().iter().map(|set| run(set, &program)).fold(true, |all, well| all & well)
}

/// Runs the program on the no-op scheme, with its bounds. Whether nothing was refused.
fn run(set: &Params, program: &Program) -> bool {
    let auto = Session::leveled(Arc::new(NoOp::new(set, 1)));
    let t = set.plain_modulus();
    let mut inputs: Values<NoOp> = BTreeMap::new();
    for (i, name) in program.inputs().enumerate() {
        let values: Vec<u64> =
            (0..set.slots() as u64).map(|slot| (7 * slot + i as u64) % t).collect();
        let x = Plaintext::encode(set, &values)
            .and_then(|plain| auto.scheme().encrypt(&plain))
            .expect("a column of the set");
        inputs.insert(name.into(), auto.share(x));
    }
    let Ok(out) = program.run(&auto, &inputs, &mut |_| ()) else { return false };
    assert!(program.outputs().all(|name| out.contains_key(name)), "every output is there");
    out.values()
        .all(|x| auto.scheme().decrypt(&x.get()).is_ok_and(|plain| plain.decode(set).is_ok()))
}
