//! docs/errors.md has the codes of stages.

use everlevel_suite::SuiteError;

#[test]
fn the_documentation_lists_the_codes_of_stages() {
    let text = include_str!("../../../docs/errors.md");
    let codes = text.lines().filter_map(|line| line.strip_prefix("| `")?.split('`').next());
    let listed: Vec<&str> = codes.filter(|code| code.starts_with("suite.")).collect();
    assert_eq!(listed, SuiteError::CODES);
}
