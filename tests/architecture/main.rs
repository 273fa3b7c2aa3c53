//! The rules of the house that the compiler does not check.

use std::fs;
use std::path::{Path, PathBuf};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .parent()
        .expect("a workspace")
        .to_owned()
}

fn sources(below: &Path) -> Vec<(PathBuf, String)> {
    let mut found = Vec::new();
    for entry in fs::read_dir(below).expect("readable sources") {
        let path = entry.expect("readable sources").path();
        if path.is_dir() {
            found.extend(sources(&path));
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            let text = fs::read_to_string(&path).expect("readable sources");
            found.push((path, text));
        }
    }
    found
}

/// A source without its inline tests and comments.
fn code(text: &str) -> String {
    let code = text.split("#[cfg(test)]").next().unwrap_or_default();
    let lines = code
        .lines()
        .filter(|line| !line.trim_start().starts_with("//"));
    lines.collect::<Vec<_>>().join("\n")
}

const CRATES: [&str; 5] = [
    "cosmos-core",
    "tower-cosmos",
    "cosmos-client",
    "cosmos-testbed",
    "cosmos-bench",
];

#[test]
fn no_layers_folder_imports_another_layers_folder() {
    let source = root().join("crates/tower-cosmos/src");
    let layers: Vec<String> = fs::read_dir(&source)
        .unwrap()
        .map(|entry| entry.unwrap())
        .filter(|entry| entry.path().is_dir())
        .map(|entry| entry.file_name().into_string().unwrap())
        .filter(|name| !matches!(name.as_str(), "account" | "prepare" | "retry"))
        .collect();
    assert!(layers.len() >= 8, "{layers:?}");
    for layer in &layers {
        for (path, text) in sources(&source.join(layer)) {
            for other in layers.iter().filter(|other| *other != layer) {
                let import = format!("crate::{other}");
                assert!(
                    !code(&text).contains(&import),
                    "{} imports {other}",
                    path.display()
                );
            }
        }
    }
}

#[test]
fn a_crate_imports_only_from_floors_below_it() {
    let above = [
        (
            "cosmos-core",
            vec![
                "tower-cosmos",
                "cosmos-client",
                "cosmos-testbed",
                "tokio",
                "hyper",
                "tower",
            ],
        ),
        ("tower-cosmos", vec!["cosmos-client", "cosmos-testbed"]),
        ("cosmos-client", vec!["cosmos-testbed"]),
    ];
    for (name, forbidden) in above {
        let manifest = fs::read_to_string(root().join("crates").join(name).join("Cargo.toml"));
        let manifest = manifest.unwrap();
        let dependencies = manifest.split("[dependencies]").nth(1).unwrap();
        let dependencies = dependencies.split("\n[").next().unwrap();
        for line in dependencies.lines() {
            let dependency = line.split(['.', ' ', '=']).next().unwrap();
            assert!(
                !forbidden.contains(&dependency),
                "{name} depends on {dependency}"
            );
        }
    }
}

#[test]
fn nothing_that_comes_from_outside_is_unwrapped_and_nothing_is_unsafe() {
    for name in CRATES {
        for (path, text) in sources(&root().join("crates").join(name).join("src")) {
            let code = code(&text);
            assert!(!code.contains(".unwrap()"), "{}", path.display());
            assert!(!code.contains("unsafe {"), "{}", path.display());
        }
    }
}

#[test]
fn source_files_stay_readable_in_one_sitting() {
    for name in CRATES {
        for (path, text) in sources(&root().join("crates").join(name).join("src")) {
            let lines = text.lines().count();
            assert!(lines <= 400, "{} has {lines} lines", path.display());
        }
    }
}

#[test]
fn every_dependency_has_its_line_in_the_architecture() {
    let architecture = fs::read_to_string(root().join("ARCHITECTURE.md")).unwrap();
    let table = architecture.split("## Dependencies").nth(1).unwrap();
    for name in CRATES {
        let manifest = root().join("crates").join(name).join("Cargo.toml");
        let manifest = fs::read_to_string(manifest).unwrap();
        for section in manifest.split("dependencies]").skip(1) {
            for line in section.split("\n[").next().unwrap().lines() {
                let dependency = line.split(['.', ' ', '=', '#']).next().unwrap();
                let ours = CRATES.contains(&dependency);
                let known = ours || dependency.is_empty() || table.contains(dependency);
                assert!(
                    known,
                    "{name}: {dependency} has no reason in ARCHITECTURE.md"
                );
            }
        }
    }
}
