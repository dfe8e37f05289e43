"""A release is one step, and mistakes in what it takes are found."""

import sys
import unittest
from importlib.machinery import SourceFileLoader
from importlib.util import module_from_spec, spec_from_loader
from pathlib import Path

sys.dont_write_bytecode = True
loader = SourceFileLoader("release", str(Path(__file__).with_name("release")))
release = module_from_spec(spec_from_loader("release", loader))
loader.exec_module(release)

LINK = release.REPOSITORY
BEFORE = f"""# Changelog

## [Unreleased]

### Added
- This.

## [0.1.0] – 2026-11-22
First.

[Unreleased]: {LINK}/compare/3890bdc...main
[0.1.0]: {LINK}/tree/3890bdc
"""
AFTER = f"""# Changelog

## [Unreleased]

## [0.2.0] – 2026-12-01

### Added
- This.

## [0.1.0] – 2026-11-22
First.

[Unreleased]: {LINK}/compare/v0.2.0...main
[0.2.0]: {LINK}/compare/3890bdc...v0.2.0
[0.1.0]: {LINK}/tree/3890bdc
"""
MANIFEST = """[workspace.package]
version = "0.1.0"

[workspace.dependencies]
everlevel-arith = { path = "crates/arith", version = "0.1.0" }
other = { version = "0.1.0" }
"""
PACKAGE = """[package]
name = "everlevel-python"
description = "of version = 0"
version = "0.1.0"

[dependencies]
other = "0.1.0"
"""
LOCK = """[[package]]
name = "everlevel-arith"
version = "0.1.0"

[[package]]
name = "other"
version = "0.1.0"
source = "registry"
"""


class Release(unittest.TestCase):
    def test_what_is_unreleased_becomes_a_version(self):
        made = release.released(BEFORE, "0.2.0", "2026-12-01")
        self.assertEqual(made, AFTER)
        self.assertEqual(list(release.changelog(made, "0.2.0")), [])
        # And again.
        again = release.released(made, "0.2.1", "2026-12-02")
        self.assertEqual(list(release.changelog(again, "0.2.1")), [])
        self.assertIn(f"[0.2.1]: {LINK}/compare/v0.2.0...v0.2.1\n", again)

    def test_versions_of_this_project_only(self):
        for text, own in ((MANIFEST, 2), (PACKAGE, 1), (LOCK, 1)):
            made = release.numbered(text, "0.1.0", "0.2.0")
            self.assertEqual((made.count('"0.2.0"'), made.count('"0.1.0"')), (own, 1), made)

    def test_tags_are_of_the_commits_of_their_releases(self):
        history = "ccc3333 Later\nbbb2222 Release 0.2.0\nabc1234 Release 0.1.0 in part\n"
        expected = {"0.2.0": "bbb2222", "0.1.0": "3890bdc"}
        self.assertEqual(release.tagged(AFTER, history), expected)
        # Before the commit of the release.
        self.assertIsNone(release.tagged(AFTER, "ccc3333 Later\n")["0.2.0"])
        # A link between two commits.
        linked = AFTER.replace("3890bdc...v0.2.0", "3890bdc...aaa1111")
        self.assertEqual(release.tagged(linked, history)["0.2.0"], "aaa1111")

    def test_mistakes_are_found(self):
        found = list(release.changelog(BEFORE.replace("## [Unreleased]\n", ""), "0.2.0"))
        self.assertEqual(len(found), 2, found)
        found = list(release.changelog(AFTER.replace(" – 2026-12-01", ""), "0.2.0"))
        self.assertEqual(found, ["CHANGELOG.md: release 0.2.0 has no date"])
        found = list(release.changelog(AFTER.replace("[0.2.0]: ", ""), "0.2.0"))
        self.assertEqual(found, ["CHANGELOG.md: [0.2.0] has no link"])
        for wrong in ("0.1.0", "0.0.9", "v0.2.0", "1"):
            with self.assertRaises(SystemExit):
                release.prepared(wrong, "2026-12-01")

    def test_this_tree_is_ready(self):
        version = release.versions()[0]
        self.assertEqual(list(release.not_preparable(version)), [])


if __name__ == "__main__":
    unittest.main()
