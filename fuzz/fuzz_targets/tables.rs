#![no_main]
libfuzzer_sys::fuzz_target!(
    init: everlevel_fuzz::on_this_thread(),
    |bytes: &[u8]| {
        let _ = everlevel_fuzz::tables::tables(bytes);
    }
);
