//! Finding the tests that are named.

use std::fs;
use std::path::{Path, PathBuf};

pub(crate) fn root() -> PathBuf {
    let tests = Path::new(env!("CARGO_MANIFEST_DIR"));
    tests.parent().expect("a workspace").to_owned()
}

/// Whether there is a test of this name: `binary::module::test` in `tests/`, or
/// `crate/binary::module::test` among a crate's tests or sources.
pub(crate) fn has_test(name: &str) -> bool {
    let (folders, path) = match name.split_once('/') {
        Some((package, path)) => {
            let package = root().join("crates").join(package);
            (vec![package.join("tests"), package.join("src")], path)
        }
        None => (vec![root().join("tests")], name),
    };
    let Some((module, test)) = path.rsplit_once("::") else {
        return false;
    };
    let file = module.replace("::", "/");
    folders
        .iter()
        .flat_map(|folder| ["", "/mod", "/main"].map(|end| folder.join(format!("{file}{end}.rs"))))
        .filter_map(|path| fs::read_to_string(path).ok())
        .any(|text| defines_test(&text, test))
}

/// Whether a source defines a function of this name with a test attribute.
fn defines_test(text: &str, name: &str) -> bool {
    let lines: Vec<&str> = text.lines().map(str::trim).collect();
    let signature = format!("fn {name}(");
    let property = lines.iter().position(|line| line.contains(&signature));
    property.is_some_and(|at| {
        let attributes = lines[..at].iter().rev();
        attributes
            .take_while(|line| line.starts_with("#["))
            .any(|line| line.contains("test"))
    })
}

/// Whether a conformance table has a section with this title.
pub(crate) fn has_section(title: &str) -> bool {
    let heading = format!("== {title}");
    ["rows.txt", "sequences.txt", "environment.txt"]
        .iter()
        .filter_map(|file| fs::read_to_string(root().join("tests/conformance").join(file)).ok())
        .any(|text| text.lines().any(|line| line.trim() == heading))
}
