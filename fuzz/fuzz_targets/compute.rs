#![no_main]
libfuzzer_sys::fuzz_target!(
    init: everlevel_fuzz::on_this_thread(),
    |bytes: &[u8]| {
        everlevel_fuzz::objects::compute(bytes);
        everlevel_fuzz::ltv::compute(bytes);
    }
);
