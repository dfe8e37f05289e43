#![no_main]
libfuzzer_sys::fuzz_target!(
    init: everlevel_fuzz::on_this_thread(),
    |bytes: &[u8]| {
        let _ = everlevel_fuzz::indexes::indexes(bytes);
        if let Some(sealed) = everlevel_fuzz::objects::resealed(bytes) {
            let _ = everlevel_fuzz::indexes::indexes(&sealed);
        }
    }
);
