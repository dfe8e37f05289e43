//! Runs of what the server computes without values: for its keys, and for the levels of round keys.

use everlevel_aes::Layout;
use everlevel_scheme::noop::NoOpCiphertext;
use everlevel_scheme::{Arithmetic, KeyPlan, Level, Meta, NoOp, Params, Plaintext};

use super::circuit::{Decryption, InnerProduct};
use super::maximum::Maximum;
use super::placement::Placement;
use super::protocol::{BLOCK, ROUND_KEYS, Task, Workload, maximum_levels};
use crate::error::SuiteError;

/// The levels at which the round keys are needed, from round 0 on.
pub(super) fn key_levels(params: &Params, workload: &Workload) -> Result<Vec<Level>, SuiteError> {
    let (scheme, top) = (NoOp::blank(params), params.chain().top());
    let decryption = Decryption::new(&scheme, top, workload)?;
    let key = scheme.encrypt(&Plaintext::encode(params, &[])?)?;
    decryption.key_levels(&scheme, top, |level| Ok(scheme.mod_switch_to(&key, level)?))
}

/// A run of all that the server does, without values: the scheme, which knows the keys and the cost
/// of it, a decrypted state, and the result. States after the first take the same levels and keys:
/// AES is run for one, by itself or with rounds that states share, and the maximum for `states` of
/// them at most.
pub(super) fn rehearse(
    params: &Params,
    workload: &Workload,
    levels: &[Level],
    states: usize,
) -> Result<(NoOp, [NoOpCiphertext; 2]), SuiteError> {
    let scheme = NoOp::blank(params);
    let state = rehearse_decryption(&scheme, workload, levels)?;
    let placement = Placement::new(workload, Layout::packed(params.slot_shape())?.blocks(), 0)?;
    let result = match workload.task {
        Task::Maximum => {
            let (levels, bits) = (maximum_levels(params), workload.random_bits());
            let maximum = Maximum::new(&scheme, params, levels, bits)?;
            let states = vec![state.clone(); placement.states().min(states)];
            maximum.run(&scheme, &states, &mut words())?
        }
        Task::InnerProduct => rehearse_inner_product(&scheme, &placement, &state)?,
    };
    Ok((scheme, [state, result]))
}

/// The inner product of states that are all like this one, without values.
fn rehearse_inner_product(
    scheme: &NoOp,
    placement: &Placement,
    state: &NoOpCiphertext,
) -> Result<NoOpCiphertext, SuiteError> {
    let inner = InnerProduct::new(scheme, placement.clone(), state.meta().level)?;
    let products = inner.products(scheme, state)?;
    inner.total(scheme, vec![products; placement.states()])
}

/// The server keys that the inner product needs, of states with these public data.
pub(super) fn inner_product_keys(
    params: &Params,
    placement: &Placement,
    state: &Meta,
) -> Result<KeyPlan, SuiteError> {
    let scheme = NoOp::blank(params);
    rehearse_inner_product(&scheme, placement, &scheme.like(state)?)?;
    Ok(scheme.key_plan())
}

/// The maximum without values, and the server keys that it needs, of states with these public data.
pub(super) fn maximum_keys(
    params: &Params,
    workload: &Workload,
    state: &Meta,
) -> Result<(Maximum<NoOp>, KeyPlan), SuiteError> {
    let (levels, bits) = (maximum_levels(params), workload.random_bits());
    // What is tried while it is planned, on another scheme, is no part of it.
    let maximum = Maximum::new(&NoOp::blank(params), params, levels, bits)?;
    let scheme = NoOp::blank(params);
    maximum.run(&scheme, &[scheme.like(state)?], &mut words())?;
    Ok((maximum, scheme.key_plan()))
}

/// A state that is decrypted on a scheme without values, which knows the keys of AES then.
fn rehearse_decryption(
    scheme: &NoOp,
    workload: &Workload,
    levels: &[Level],
) -> Result<NoOpCiphertext, SuiteError> {
    let params = scheme.params();
    let decryption = Decryption::new(scheme, params.chain().top(), workload)?;
    let uploaded = scheme.encrypt(&Plaintext::encode(params, &[])?)?;
    let keys = decryption.round_keys(scheme, &vec![uploaded; ROUND_KEYS], levels)?;
    let (mode, blocks) = (workload.mode(&[0; BLOCK])?, vec![([0; BLOCK], [0; BLOCK])]);
    Ok(decryption.states(scheme, &mode, &keys, &[blocks])?.swap_remove(0))
}

/// The server keys that AES needs.
pub(super) fn decryption_keys(
    params: &Params,
    workload: &Workload,
    levels: &[Level],
) -> Result<KeyPlan, SuiteError> {
    let scheme = NoOp::blank(params);
    rehearse_decryption(&scheme, workload, levels)?;
    Ok(scheme.key_plan())
}

/// Words that look random, for rehearsals.
pub(super) fn words() -> impl FnMut() -> u64 {
    let mut state = 0u64;
    move || {
        state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (state ^ state >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ mixed >> 31
    }
}

#[cfg(test)]
mod tests {
    use everlevel_scheme::Scheme;

    use super::*;
    use crate::transciphering::protocol::{INSTANCES, STAND_INS};

    /// Every instance fits the set by the noise bound, with what its decryption needs: a block by
    /// itself, and the most states, which have the most noise.
    fn check_extremes(task: Task) {
        for instance in [INSTANCES[0], INSTANCES[3]].into_iter().chain(STAND_INS) {
            check_capacity(Workload { instance, task });
        }
    }

    // A test for each task, so that they run at the same time: these are the longest here.
    #[test]
    fn the_set_holds_maxima_of_every_instance() {
        check_extremes(Task::Maximum);
    }

    #[test]
    fn the_set_holds_inner_products_of_every_instance() {
        check_extremes(Task::InnerProduct);
    }

    #[test]
    #[ignore = "ten seconds: instances between those of the other tests"]
    fn the_set_holds_instances_of_some_states_in_full() {
        for instance in [INSTANCES[1], INSTANCES[2]] {
            for task in Task::ALL {
                check_capacity(Workload { instance, task });
            }
        }
    }

    fn check_capacity(workload: Workload) {
        let Workload { instance, task } = workload;
        let params = workload.shared_params();
        let levels = key_levels(&params, &workload).unwrap();
        let (scheme, found) = rehearse(&params, &workload, &levels, usize::MAX).unwrap();
        let [state, total] = found.each_ref().map(|x| scheme.capacity_bits(x));
        let keys = scheme.key_plan().seeded_bytes(&params);
        println!(
            "{} {task:?}: {state:.1} bits after AES, {total:.1} at the end, {} MiB of keys, {:?}",
            instance.name,
            keys >> 20,
            scheme.cost()
        );
        assert!(state > 190.0 && total > 10.0, "{} {task:?}: {state}, {total}", instance.name);
        assert!(scheme.decrypt(&found[1]).is_ok());
        assert!(STAND_INS.contains(&instance) || params.security().bits() >= 128.0);
    }

    /// What the server reads ahead after AES are keys that it has, and all that it needs.
    #[test]
    fn keys_that_are_read_ahead_are_those_that_are_used() {
        for (instance, task) in
            STAND_INS.into_iter().flat_map(|it| Task::ALL.map(|task| (it, task)))
        {
            let workload = Workload { instance, task };
            let params = workload.shared_params();
            let levels = key_levels(&params, &workload).unwrap();
            let (scheme, [state, result]) = rehearse(&params, &workload, &levels, 1).unwrap();
            let all = scheme.key_plan();
            let holding = |keys: KeyPlan| {
                assert_eq!(all.clone().merge(&keys), all, "{workload:?}");
                assert!(!keys.galois.is_empty() && !keys.relin.is_empty(), "{workload:?}");
                let scheme = NoOp::blank(&params).holding(keys);
                let state = scheme.like(state.meta()).unwrap();
                (scheme, state)
            };
            let found = match task {
                Task::Maximum => {
                    let (maximum, keys) = maximum_keys(&params, &workload, state.meta()).unwrap();
                    let (scheme, state) = holding(keys);
                    maximum.run(&scheme, &[state], &mut words()).unwrap()
                }
                Task::InnerProduct => {
                    let places = Layout::packed(params.slot_shape()).unwrap().blocks();
                    let placement = Placement::new(&workload, places, 0).unwrap();
                    let keys = inner_product_keys(&params, &placement, state.meta()).unwrap();
                    let (scheme, state) = holding(keys);
                    rehearse_inner_product(&scheme, &placement, &state).unwrap()
                }
            };
            assert_eq!(found.meta(), result.meta(), "{workload:?}");
        }
    }
}
