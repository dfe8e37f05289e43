//! `everlevel selftest --mistakes`.

use crate::common::shared_json;

#[test]
fn no_mistake_is_answered_with_a_number() {
    let told = shared_json("selftest --mistakes");
    assert_eq!(told["silent"], 0, "{told}");
    let mistakes = told["mistakes"].as_array().unwrap();
    assert_eq!(mistakes.len(), everlevel_cli::mistakes::cases().count());
    for (told, case) in mistakes.iter().zip(everlevel_cli::mistakes::cases()) {
        assert_eq!(told["name"], case.name);
        assert_eq!((&told["refused"], &told["code"]), (&true.into(), &case.code.into()), "{told}");
    }
}
