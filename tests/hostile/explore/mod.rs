//! Random schedules: layers in random orders, doubled and between foreign ones, over regions with
//! random scripts, while the topology changes and callers leave; the safety rules are checked on
//! the wire against the journals.
//!
//! `HOSTILE_SEED=n` repeats one run and prints what happened; `HOSTILE_RUNS=n` makes more of them.

mod check;
mod plan;
mod run;
mod stack;

fn number(name: &str) -> Option<u64> {
    std::env::var(name).ok()?.parse().ok()
}

#[test]
fn random_schedules_keep_the_rules() {
    if let Some(seed) = number("HOSTILE_SEED") {
        if let Err(problem) = run::run(seed) {
            panic!("{problem}");
        }
        return;
    }
    let runs = number("HOSTILE_RUNS").unwrap_or(800);
    let problems: Vec<String> = (0..runs).filter_map(|seed| run::run(seed).err()).collect();
    let titles = problems.iter().filter_map(|problem| problem.lines().next());
    let titles = titles.collect::<Vec<_>>().join("\n");
    let first = problems.first().map(String::as_str).unwrap_or_default();
    assert!(problems.is_empty(), "{titles}\n\n{first}");
}
