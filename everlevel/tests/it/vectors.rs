//! Copies of slots and products with matrices, with general keys.

use everlevel::{
    Client, OptIn, Params, Server, ServerKeys, SlotCopy, bootstrap_plan, general_keys, system_rng,
};
use everlevel_scheme::params::spec;

fn values(count: usize, t: u64) -> Vec<u64> {
    (0..count as u64).map(|i| (i * i * 7919 + 31 * i + 5) % t).collect()
}

#[test]
fn copies_and_matrices_with_general_keys() {
    // Two rows, one row (p = 3 modulo 4), and the hypercube of an odd index.
    let mut odd = spec("aes-bgv-leveled").unwrap();
    (odd.name, odd.index, odd.plain_prime, odd.extended_exponent) =
        ("insecure_bgv-211-m105".into(), 105, 211, 0);
    for spec in [spec("insecure_bgv-257-n8").unwrap(), spec("insecure_bgv-127-n8").unwrap(), odd] {
        let params = Params::new(spec, OptIn::InsecureResearch).unwrap();
        let name = params.name();
        let mut rng = system_rng().unwrap();
        let client = Client::new(&params, &mut rng);
        let keys = ServerKeys::generate(
            client.secret(),
            &general_keys(&params).unwrap(),
            &mut rng,
            |_, _| (),
        )
        .unwrap();
        let server = match params.spec().bootstrap {
            Some(_) => Server::new(keys, bootstrap_plan(&params).unwrap()).unwrap(),
            None => Server::leveled(keys),
        };
        let (t, slots, columns) =
            (params.plain_modulus(), params.slots(), params.slot_shape().columns());
        let v = values(slots, t);
        let a = server.load(client.encrypt_modular(&v, &mut rng).unwrap());

        let n = slots * 3 / 4;
        for k in [1, columns / 2 + 1, n - 1] {
            let copies = [
                SlotCopy { step: k as i64, slots: 0..n - k },
                SlotCopy { step: k as i64 - n as i64, slots: n - k..n },
            ];
            let found =
                client.decrypt_modular(&server.copy_slots(&a, &copies).unwrap().get()).unwrap();
            let expected: Vec<u64> =
                (0..slots).map(|i| if i < n { v[(i + k) % n] } else { 0 }).collect();
            assert_eq!(found, expected, "{name}: by {k}");
        }
        for (rows, width) in
            [(1, columns), (columns, 1), (columns, columns), (3.min(columns), 2.min(columns))]
        {
            let entry = |i: usize, j: usize| (i * 37 + j * j * 11 + 3) as i64 % 41 - 20;
            let matrix: Vec<Vec<i64>> =
                (0..rows).map(|i| (0..width).map(|j| entry(i, j)).collect()).collect();
            let found =
                client.decrypt_modular(&server.mul_matrix(&a, &matrix).unwrap().get()).unwrap();
            let product = |row: &Vec<i64>| {
                let sum: i128 =
                    row.iter().zip(&v).map(|(m, v)| i128::from(*m) * i128::from(*v)).sum();
                sum.rem_euclid(i128::from(t)) as u64
            };
            let mut expected: Vec<u64> = matrix.iter().map(product).collect();
            expected.resize(slots, 0);
            assert_eq!(found, expected, "{name}: {rows} x {width}");
        }
        assert!(server.mul_matrix(&a, &[vec![1; columns + 1]]).is_err());
        assert!(server.mul_matrix(&a, &[vec![1], vec![]]).is_err());
        assert!(server.copy_slots(&a, &[SlotCopy { step: 1, slots: 0..slots }]).is_err());
    }
}
