//! How much memory there is.

/// Bytes of memory that the system has for programs, where it says so.
pub(crate) fn available() -> Option<u64> {
    let text = std::fs::read_to_string("/proc/meminfo").ok()?;
    let line = text.lines().find_map(|line| line.strip_prefix("MemAvailable:"))?;
    line.trim().strip_suffix(" kB")?.parse::<u64>().ok()?.checked_mul(1024)
}

/// Bytes of expanded keys that may be kept where `available` are there for programs: half of that,
/// and `least` at least.
pub(crate) fn for_keys(least: u64, available: Option<u64>) -> u64 {
    least.max(available.unwrap_or(0) / 2)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_have_half_of_what_is_there() {
        assert_eq!(for_keys(3, None), 3);
        assert_eq!(for_keys(3, Some(5)), 3);
        assert_eq!(for_keys(3, Some(21)), 10);
    }
}
