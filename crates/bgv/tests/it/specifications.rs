//! Which specifications of parameter sets are refused, and that named sets are what they say.

use everlevel_scheme::spec::SecretKind;
use everlevel_scheme::{OptIn, Params};

#[test]
fn specifications_are_checked() {
    let good = || everlevel_scheme::params::spec("insecure_bgv-65537-n11").unwrap();
    let refused = |change: &dyn Fn(&mut everlevel_scheme::ParamsSpec), word: &str| {
        let mut spec = good();
        change(&mut spec);
        let message = Params::new(spec, OptIn::InsecureResearch).unwrap_err().to_string();
        assert!(message.contains(word), "{message}");
    };
    assert!(
        Params::new(good(), OptIn::SecureOnly)
            .unwrap_err()
            .to_string()
            .contains("asked for explicitly")
    );
    refused(&|s| s.plain_prime = 15, "prime");
    refused(&|s| s.plain_prime = 2, "an odd one such as 42799");
    refused(&|s| s.plain_exponent = 0, "plain_exponent");
    refused(&|s| s.plain_exponent = 3, "2^62");
    refused(&|s| s.secret = SecretKind::Sparse(7), "sparse weight");
    refused(&|s| s.bootstrap.as_mut().unwrap().under_main_key = true, "under_main_key");
    refused(&|s| s.bootstrap.as_mut().unwrap().overflow_bound = Some(0), "overflow");
    refused(&|s| s.bootstrap.as_mut().unwrap().overflow_bound = Some(40000), "remove more digits");
    refused(&|s| s.bootstrap.as_mut().unwrap().digits = Some(0), "digits");
    // Sums and squares that no word holds.
    refused(&|s| s.plain_exponent = u32::MAX, "2^62");
    refused(&|s| (s.plain_exponent, s.extended_exponent) = (u32::MAX, 2), "2^62");
    refused(&|s| s.bootstrap.as_mut().unwrap().digits = Some(u32::MAX), "2^62");
    let heavy = |s: &mut everlevel_scheme::ParamsSpec| {
        let bootstrap = s.bootstrap.as_mut().unwrap();
        (bootstrap.sparse_weight, bootstrap.overflow_bound) = (usize::MAX - 1, Some(9));
        s.index = 1001;
    };
    refused(&heavy, "sparse_weight");
    refused(&|s| s.index = 1002, "index");
    for index in [8 * 25, 9 * 29] {
        // Bootstrapping there needs a bound that is stated.
        refused(&|s| s.index = index, "least_overflow_bound");
        let spec =
            everlevel_scheme::ParamsSpec { index, plain_prime: 17, bootstrap: None, ..good() };
        let refusal =
            Params::new(spec, OptIn::InsecureResearch).err().map(|error| error.to_string());
        assert!(refusal.is_none(), "{refusal:?}");
    }
    refused(&|s| s.index = 1 << 40, "index");
    refused(&|s| s.bootstrap.as_mut().unwrap().sparse_weight = 1 << 20, "sparse_weight");
    refused(&|s| s.bootstrap.as_mut().unwrap().sparse_weight = 7, "sparse_weight");
    refused(&|s| s.base_bits = 30, "base_bits");
    refused(&|s| s.words = 500, "words");
    refused(&|s| s.fine_bits = vec![5], "fine_bits");
    refused(&|s| s.digit_size = 0, "digit_size");
    refused(&|s| s.name = "mine".into(), "insecure_");
    refused(&|s| s.name = "a b".into(), "name");
    // a wide q0 over a small ring, where pairs of primes abound: the search must stop early
    let mut wide = everlevel_scheme::params::spec("insecure_bgv-257-n8").unwrap();
    for bits in [62, 63, 80, 96] {
        wide.base_bits = bits;
        let q0 = Params::new(wide.clone(), OptIn::InsecureResearch).unwrap().base_modulus();
        assert!(q0 % 257 == 1 && q0 >> bits == 0 && q0 >> (bits - 2) != 0, "{bits}");
    }
    // Bits, and a p that divides l - 1 for a prime l of the index: 5 divides 11 - 1.
    for (index, plain_prime) in [(127, 2), (27, 2), (11, 5), (11 * 13, 5)] {
        let spec = everlevel_scheme::ParamsSpec {
            index,
            plain_prime,
            base_bits: 80,
            bootstrap: None,
            ..good()
        };
        let params = Params::new(spec, OptIn::InsecureResearch)
            .unwrap_or_else(|e| panic!("{index}, {plain_prime}: {e}"));
        let (q0, step) = (params.base_modulus(), everlevel_ring::Ring::prime_step(index).unwrap());
        assert!(q0 % i128::from(plain_prime) == 1 && q0 >> 78 != 0 && q0 >> 80 == 0, "{index}");
        for i in [0, 1] {
            assert_eq!(params.ring().modulus(i).value() % step, 1, "{index}, {plain_prime}");
        }
    }
    // Low security and frequent failures are asked for apart from each other.
    let with_bound = |name, bound| {
        let mut spec = everlevel_scheme::params::spec(name).unwrap();
        spec.bootstrap.as_mut().unwrap().overflow_bound = Some(bound);
        spec
    };
    for (name, bound, needed) in [
        ("bgv-65537-n15", 11, OptIn::AllowFailures),
        ("insecure_bgv-65537-n11", 4, OptIn::InsecureAllowFailures),
    ] {
        let error = Params::new(with_bound(name, bound), OptIn::InsecureResearch).unwrap_err();
        assert_eq!(error.code(), "scheme.frequent-failures");
        let params = Params::new(with_bound(name, bound), needed).unwrap();
        assert!((-40.0..=0.0).contains(&params.failure_log2()));
        assert!(params.failure_notice().unwrap().contains("2^-"));
    }
    let insecure = with_bound("insecure_bgv-65537-n11", 4);
    let error = Params::new(insecure, OptIn::AllowFailures).unwrap_err();
    assert_eq!(error.code(), "scheme.insecure");
    // Between 2^-128 and 2^-40 users are told; a probability is never above 1.
    let rare = Params::new(with_bound("bgv-65537-n15", 13), OptIn::SecureOnly).unwrap();
    assert!((-128.0..-40.0).contains(&rare.failure_log2()) && rare.failure_notice().is_some());
    let certain = Params::new(with_bound("bgv-65537-n15", 1), OptIn::AllowFailures).unwrap();
    assert_eq!(certain.failure_log2(), 0.0);
    let mut large = everlevel_scheme::params::spec("bgv-65537-n15").unwrap();
    large.words += 1;
    assert!(
        Params::new(large, OptIn::InsecureResearch).unwrap_err().to_string().contains("below 128")
    );
    assert!(
        Params::named("nothing", OptIn::SecureOnly)
            .unwrap_err()
            .to_string()
            .contains("bgv-65537-n15")
    );
}

#[test]
fn every_named_set_is_what_it_says() {
    for name in everlevel_scheme::params::names() {
        // With 128 bits, or asked for explicitly. Every attack on every key of these is estimated
        // where `everlevel-scheme` tests itself, which takes longer.
        let accepted = Params::named(name, OptIn::SecureOnly);
        let secure = accepted.is_ok();
        assert_eq!(secure, !name.starts_with("insecure_"), "{name}");
        let params = accepted.unwrap_or_else(|error| {
            assert_eq!(error.code(), "scheme.insecure", "{name}");
            Params::named(name, OptIn::InsecureResearch).unwrap()
        });
        assert!(params.failure_notice().is_none(), "{name}");
        let p = params.spec().plain_prime;
        // correction factors vanish: every prime that can be dropped is 1 modulo p, and so is q0;
        // for odd indices primes are too rare
        assert!(params.base_modulus() % p as i128 == 1 || params.ring().axes().is_some(), "{name}");
        let chain = params.chain();
        let power_of_two = params.ring().axes().is_none();
        if secure && power_of_two && params.slot_shape().degree_of_slot() <= 2 {
            let droppable = chain.basis(chain.top()).minus(chain.basis(everlevel_scheme::Level(0)));
            assert!(droppable.iter().all(|i| params.ring().modulus(i).value() % p == 1), "{name}");
        }
        // levels ascend, and every gadget's special primes are free where it is used
        for l in 1..=chain.top().0 {
            let level = everlevel_scheme::Level(l);
            assert!(chain.bits(level) > chain.bits(everlevel_scheme::Level(l - 1)));
            assert!(chain.gadget(level).special().intersection(chain.basis(level)).is_empty());
        }
    }
}
