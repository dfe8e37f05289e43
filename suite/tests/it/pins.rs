//! `pins.json` says which stages and instances there are; the runner and the stand-ins go by it.

use everlevel_suite::Instance;

use crate::fetch::{FETCH, RESIDENT};
use crate::ml::ML;
use crate::stand_in::Workload;
use crate::transciphering::TRANSCIPHERING;
use crate::zn::ZN;
use crate::zn_whole::{WHOLE, WHOLE_STAGES};

#[test]
fn pins_name_stages_and_instances() {
    let text = include_str!("../../pins.json");
    let pins: serde_json::Value = serde_json::from_str(text).unwrap();
    let ours: [(&Workload, &[Instance]); 4] = [
        (&ZN, &everlevel_suite::zn::INSTANCES),
        (&TRANSCIPHERING, &everlevel_suite::transciphering::INSTANCES),
        (&ML, &everlevel_suite::ml::INSTANCES),
        (&FETCH, &everlevel_suite::fetch::INSTANCES),
    ];
    assert_eq!(pins.as_object().unwrap().len(), ours.len());
    for (workload, instances) in ours {
        let pinned = &pins[workload.name];
        let stages: Vec<(&str, Vec<&str>)> = pinned["stages"]
            .as_array()
            .unwrap()
            .iter()
            .map(|stage| {
                let words = stage.as_array().unwrap().iter().map(|word| word.as_str().unwrap());
                let words: Vec<&str> = words.collect();
                (words[0], words[1..].to_vec())
            })
            .collect();
        let known = workload.stages.iter().copied();
        assert!(stages.iter().map(|(name, words)| (*name, &words[..])).eq(known));
        let found = pinned["instances"].as_array().unwrap().iter();
        let found = found.map(|it| (it["name"].as_str().unwrap(), it["count"].as_u64().unwrap()));
        assert!(found.eq(instances.iter().map(|instance| (instance.name, instance.count))));
        assert_eq!(pinned["commit"].as_str().unwrap().len(), 40);
    }
}

/// A variant has programs of its own for some of the stages, which have the same arguments, and may
/// have one more stage.
#[test]
fn pins_name_the_programs_of_variants() {
    let text = include_str!("../../pins.json");
    let pins: serde_json::Value = serde_json::from_str(text).unwrap();
    let programs = |workload: &Workload, variant: &str| {
        let variants = &pins[workload.name]["variants"];
        assert_eq!(variants.as_object().unwrap().len(), 2);
        let all = variants[variant]["programs"].as_array().unwrap().iter();
        all.map(|program| program.as_str().unwrap()).collect::<Vec<_>>()
    };
    assert!(programs(&WHOLE, "digits").is_empty() && programs(&FETCH, "direct").is_empty());
    assert_eq!(programs(&WHOLE, "whole"), WHOLE_STAGES);
    // One of them is a stage that the other variant does not have, after the database is encrypted
    // and before the first query is.
    let [more, own] = programs(&RESIDENT, "resident")[..] else { panic!("two programs") };
    let mut stages: Vec<&str> = RESIDENT.stages.iter().map(|stage| stage.0).collect();
    assert_eq!((stages[3], stages.remove(3)), (more, more));
    assert!(FETCH.stages.iter().map(|stage| stage.0).eq(stages));
    assert!(FETCH.stages.iter().any(|stage| stage.0 == own));
}
