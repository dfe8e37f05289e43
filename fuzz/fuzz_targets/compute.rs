#![no_main]
libfuzzer_sys::fuzz_target!(|bytes: &[u8]| everlevel_fuzz::compute(bytes));
