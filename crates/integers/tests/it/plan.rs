use std::sync::Arc;
use everlevel_circuit::bootstrap::{BootstrapPlan, Bootstrapper};
use everlevel_circuit::{PrimePower, Session};
use everlevel_integers::TablePlan;
use everlevel_scheme::{Level, NoOp, OptIn, Params, Plaintext, Arithmetic, Automorphisms, ExactScheme, LinearMaps, PlainModulus, Scheme};

fn costs(low: i64, high: i64, tables: &[&dyn Fn(i64) -> i64]) -> (usize, u32, usize) {
    let t = PrimePower::new(65537, 1).unwrap();
    let tables: Vec<Vec<i64>> = tables.iter().map(|f| (low..=high).map(|x| f(x)).collect()).collect();
    let c = TablePlan::new(t, low, high, &tables).unwrap().costs();
    (c.products, c.depth, c.relinearizations)
}

#[test]
fn look() {
    for (name, x) in [
        ("sign15", costs(-15, 15, &[&|x| x.signum()])),
        ("sign7", costs(-7, 7, &[&|x| x.signum()])),
        ("sign3", costs(-3, 3, &[&|x| x.signum()])),
        ("sign1", costs(-1, 1, &[&|x| x.signum()])),
        ("step15", costs(-15, 15, &[&|x| i64::from(x >= 0)])),
        ("gt15", costs(-15, 15, &[&|x| i64::from(x > 0)])),
        ("gt7", costs(-7, 7, &[&|x| i64::from(x > 0)])),
        ("gt3", costs(-3, 3, &[&|x| i64::from(x > 0)])),
        ("gt1", costs(-1, 1, &[&|x| i64::from(x > 0)])),
        ("carry30", costs(0, 30, &[&|x| i64::from(x > 15)])),
        ("carry30", costs(0, 31, &[&|x| i64::from(x > 15)])),
        ("q", costs(-15, 30, &[&|x| (x + 8) .div_euclid(16)])),
        ("zero15", costs(-15, 15, &[&|x| i64::from(x == 0)])),
        ("zero 0..15", costs(0, 15, &[&|x| i64::from(x == 7)])),
        ("lut4", costs(0, 15, &[&|x| x * x * x % 7])),
        ("lut4x2", costs(0, 15, &[&|x| x * x * x % 7, &|x| x*x %11])),
        ("lut4x4", costs(0, 15, &[&|x| x&1, &|x| x>>1&1, &|x| x>>2&1, &|x| x>>3&1])),
        ("lut8", costs(0, 255, &[&|x| x * x * x % 7])),
        ("lut8x2", costs(0, 255, &[&|x| x * x * x % 7, &|x| x*x%11])),
        ("step 0..15", costs(0, 15, &[&|x| i64::from(x >= 8)])),
        ("step 0..15", costs(0, 15, &[&|x| i64::from(x >= 3)])),
    ] {
        println!("{name:12} {x:?}");
    }
}

#[test]
fn after_refresh() {
    let params = Params::named("bgv-65537-n15", OptIn::SecureOnly).unwrap();
    let scheme = Arc::new(NoOp::blank(&params));
    let b = Arc::new(Bootstrapper::new(&*scheme, BootstrapPlan::for_set(&params).unwrap()).unwrap());
    let session = Session::new(scheme.clone(), b.clone());
    let zero = Plaintext::encode(&params, &[]).unwrap();
    let x = scheme.encrypt_at(&zero, Level(4)).unwrap();
    println!("min {} fresh {}", b.minimum_capacity(&scheme), scheme.capacity_bits(&scheme.encrypt(&zero).unwrap()));
    let y = session.refresh(&session.share(x)).unwrap().get();
    println!("after {}", scheme.capacity_bits(&y));
    let t = PrimePower::new(65537, 1).unwrap();
    for (name, lo, hi, f) in [
        ("sign", -15i64, 15i64, (|x: i64| x.signum()) as fn(i64) -> i64),
        ("step", -15, 15, |x: i64| i64::from(x >= 0)),
        ("gt", -15, 15, |x: i64| i64::from(x > 0)),
        ("zero", -15, 15, |x: i64| i64::from(x == 0)),
        ("lut5", 0, 31, |x: i64| x * x % 13),
        ("lut4", 0, 15, |x: i64| x * x % 13),
        ("lut4", 0, 14, |x: i64| x * x % 13),
    ] {
        let plan = TablePlan::new(t, lo, hi, &[(lo..=hi).map(f).collect()]).unwrap();
        let z = plan.evaluate(&*scheme, &y);
        println!("{name} {:?}", z.map(|z| scheme.capacity_bits(z[0].as_ref().unwrap())));
    }
}

#[test]
fn all_shapes() {
    use everlevel_circuit::poly::{Polynomial, PolynomialPlan};
    use everlevel_scheme::NextUse;
    let params = Params::named("bgv-65537-n15", OptIn::SecureOnly).unwrap();
    let scheme = Arc::new(NoOp::blank(&params));
    let b = Arc::new(Bootstrapper::new(&*scheme, BootstrapPlan::for_set(&params).unwrap()).unwrap());
    let session = Session::new(scheme.clone(), b.clone());
    let zero = Plaintext::encode(&params, &[]).unwrap();
    let x = scheme.encrypt_at(&zero, Level(4)).unwrap();
    let y = session.refresh(&session.share(x)).unwrap().get();
    let t = PrimePower::new(65537, 1).unwrap();
    let mut s = y.clone();
    let mut s2 = (*y).clone();
    for i in 0..5 {
        s = Arc::new(scheme.mul(&s, &s, NextUse::Product).unwrap());
        s2 = scheme.mul(&s2, &s2, NextUse::Keep).unwrap();
        println!("square {i} {} {}", scheme.capacity_bits(&s), scheme.capacity_bits(&s2));
    }
    let f = |x: i64| x.signum();
    for extra in [15i64, 16] {
        let points: Vec<u64> = (-extra..=extra).map(|x| t.reduce_i64(x)).collect();
        for free in [1i64, 0, -1, 5, 100] {
            let values: Vec<u64> = (-extra..=extra).map(|x| t.reduce_i64(if x.abs() == 16 { x.signum() * free } else { f(x) })).collect();
            let poly = Polynomial::interpolate(t, &points, &values).unwrap();
            for plan in PolynomialPlan::candidates(&[poly.clone()]).unwrap() {
                if plan.costs().depth > 5 { continue; }
                for next in [NextUse::Keep, NextUse::Product] {
                    let z = plan.evaluate(&*scheme, &y, next);
                    println!("{extra} {free} {:?} {:?} {:?}", next, plan.costs(), z.map(|z| scheme.capacity_bits(&z[0])));
                }
            }
        }
    }
}
