//! `pins.json` says which stages and instances there are; the runner and the stand-ins go by it.

use everlevel_suite::Instance;

use crate::fetch::FETCH;
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

/// A variant has programs of its own for some of the stages, which have the same arguments.
#[test]
fn pins_name_the_programs_of_variants() {
    let text = include_str!("../../pins.json");
    let pins: serde_json::Value = serde_json::from_str(text).unwrap();
    let variants = pins[WHOLE.name]["variants"].as_object().unwrap();
    let programs = |variant: &str| {
        let all = variants[variant]["programs"].as_array().unwrap().iter();
        all.map(|program| program.as_str().unwrap()).collect::<Vec<_>>()
    };
    assert_eq!(variants.len(), 2);
    assert!(programs("digits").is_empty());
    assert_eq!(programs("whole"), WHOLE_STAGES);
}
