//! The steps of the order, one after another.

use cosmos_core::selection::{Scope, Standing, candidates};
use cosmos_core::{Access, Operation, Outcome, Region, Status, Topology};

use crate::{
    Ask, METADATA_READ, METADATA_WRITE, READ, SPROC, Stands, UNAVAILABLE, WRITE, region, topology,
};

const ABC: [&str; 3] = ["eastus", "westus3", "northeurope"];

/// Writes go to East, reads prefer West.
fn single() -> Topology {
    topology(&ABC, &["eastus"], false, &["westus3"])
}

/// Every region is written, West preferred; the hub is East.
fn multi() -> Topology {
    topology(&ABC, &ABC, true, &["westus3"])
}

fn candidate_names(topology: &Topology, operation: Operation) -> Vec<&'static str> {
    candidates(topology, operation, Scope::Listed)
        .iter()
        .map(|r| r.name())
        .collect()
}

#[test]
fn the_candidates_are_the_list_of_the_access_and_for_metadata_writes_the_hub() {
    let (single, multi) = (single(), multi());
    let preferred = ["westus3", "eastus", "northeurope"];
    for topology in [&single, &multi] {
        assert_eq!(candidate_names(topology, READ), preferred);
        assert_eq!(candidate_names(topology, METADATA_READ), preferred);
        assert_eq!(candidate_names(topology, METADATA_WRITE), ["eastus"]);
    }
    for operation in [WRITE, SPROC] {
        assert_eq!(candidate_names(&single, operation), ["eastus"]);
        assert_eq!(candidate_names(&multi, operation), preferred);
    }
    let moving = topology(&ABC, &["eastus", "northeurope"], false, &["northeurope"]);
    assert_eq!(candidate_names(&moving, WRITE), ["eastus", "northeurope"]);
    assert_eq!(candidate_names(&moving, METADATA_WRITE), ["eastus"]);
    let fixed = Topology::fixed(&"http://127.0.0.1:8081".parse().unwrap());
    assert_eq!(
        candidates(&fixed, METADATA_WRITE, Scope::Listed),
        [Region::GLOBAL]
    );
    assert_eq!(candidates(&fixed, READ, Scope::Listed), [Region::GLOBAL]);
}

#[test]
fn an_untroubled_operation_goes_to_the_first_candidate() {
    for (topology, operation, first) in [
        (single(), READ, "westus3"),
        (single(), WRITE, "eastus"),
        (single(), SPROC, "eastus"),
        (single(), METADATA_READ, "westus3"),
        (single(), METADATA_WRITE, "eastus"),
        (multi(), READ, "westus3"),
        (multi(), WRITE, "westus3"),
        (multi(), SPROC, "westus3"),
        (multi(), METADATA_READ, "westus3"),
        (multi(), METADATA_WRITE, "eastus"),
    ] {
        assert_eq!(
            Ask::new(&topology, operation).says(),
            first,
            "{operation:?}"
        );
    }
}

#[test]
fn a_pin_beats_first_choice_tried_mark_and_open_circuit() {
    let ask = Ask::new(&multi(), READ)
        .pin("northeurope")
        .first("eastus")
        .failed("northeurope")
        .marks(Stands::reads(&["northeurope"], Standing::Bad))
        .circuits(Stands::reads(&["northeurope"], Standing::Bad));
    assert_eq!(ask.says(), "northeurope");
}

#[test]
fn a_pin_takes_neither_trial_nor_probe() {
    let due = Stands::reads(&["eastus"], Standing::Due);
    let ask = Ask::new(&multi(), READ)
        .pin("eastus")
        .marks(due.clone())
        .circuits(due);
    assert_eq!(ask.says(), "eastus");
}

#[test]
fn the_hub_can_be_pinned_for_a_read_even_if_it_is_no_candidate_of_reads() {
    let away = topology(&["westus3", "northeurope"], &["eastus"], false, &[]);
    assert_eq!(Ask::new(&away, READ).pin("eastus").says(), "eastus");
}

#[test]
fn a_pin_never_beats_an_exclusion() {
    let ask = Ask::new(&multi(), READ)
        .pin("westus3")
        .exclude(&["westus3"]);
    assert_eq!(ask.says(), "eastus");
    assert_eq!(ask.exclude(&ABC).strict().says(), "Excluded");
}

#[test]
fn a_pin_that_left_the_account_counts_as_none() {
    let after = topology(&["eastus", "westus3"], &["eastus"], false, &[]).succeeding(&single());
    let ask = Ask::new(&after, READ)
        .pin("northeurope")
        .failed("northeurope");
    assert_eq!(ask.says(), "eastus");
    assert_eq!(ask.first("westus3").says(), "westus3");
}

#[test]
fn only_metadata_can_be_pinned_to_the_global_endpoint() {
    for (operation, expected) in [
        (READ, "westus3"),
        (WRITE, "eastus"),
        (SPROC, "eastus"),
        (METADATA_READ, "GLOBAL"),
        (METADATA_WRITE, "GLOBAL"),
    ] {
        let mut ask = Ask::new(&single(), operation);
        ask.steering.pin = Some(Region::GLOBAL);
        assert_eq!(ask.says(), expected, "{operation:?}");
    }
    let fixed = Topology::fixed(&"http://127.0.0.1:8081".parse().unwrap());
    let mut ask = Ask::new(&fixed, READ);
    ask.steering.pin = Some(Region::GLOBAL);
    assert_eq!(ask.says(), "GLOBAL");
}

#[test]
fn the_first_choice_is_taken_while_nothing_speaks_against_it() {
    let ask = Ask::new(&multi(), WRITE).first("northeurope");
    assert_eq!(ask.says(), "northeurope");
    let answered = Outcome::Answered(Status::new(429, 3200));
    assert_eq!(
        ask.clone().made("northeurope", answered).says(),
        "northeurope"
    );
    for against in [
        ask.clone().failed("northeurope"),
        ask.clone().exclude(&["northeurope"]),
        ask.clone()
            .marks(Stands::writes(&["northeurope"], Standing::Bad)),
        ask.clone()
            .circuits(Stands::writes(&["northeurope"], Standing::Bad)),
        Ask::new(&single(), WRITE).first("northeurope"),
    ] {
        assert!(
            ["westus3", "eastus"].contains(&against.says().as_str()),
            "{against:?}"
        );
    }
    // A mark of the other access does not count.
    assert_eq!(
        ask.marks(Stands::reads(&["northeurope"], Standing::Bad))
            .says(),
        "northeurope"
    );
}

#[test]
fn a_first_choice_that_is_due_takes_trial_and_probe_along() {
    let due = Stands::reads(&["northeurope"], Standing::Due);
    let ask = Ask::new(&multi(), READ).first("northeurope");
    assert_eq!(ask.clone().marks(due.clone()).says(), "northeurope?");
    assert_eq!(ask.clone().circuits(due.clone()).says(), "northeurope!");
    assert_eq!(ask.marks(due.clone()).circuits(due).says(), "northeurope?!");
}

#[test]
fn untried_regions_come_in_the_order_of_the_list() {
    let ask = Ask::new(&multi(), READ);
    assert_eq!(ask.clone().failed("westus3").says(), "eastus");
    assert_eq!(
        ask.clone().failed("westus3").failed("eastus").says(),
        "northeurope"
    );
    assert_eq!(ask.failed("eastus").says(), "westus3");
}

#[test]
fn tried_regions_come_again_the_least_attempted_and_longest_ago_first() {
    let ask = Ask::new(&multi(), READ)
        .failed("westus3")
        .failed("eastus")
        .failed("northeurope");
    assert_eq!(ask.says(), "westus3");
    assert_eq!(ask.clone().failed("westus3").says(), "eastus");
    assert_eq!(
        ask.clone().failed("westus3").failed("eastus").says(),
        "northeurope"
    );
    // A repetition that did not fail counts as an attempt all the same.
    let repeated = ask.made("westus3", Outcome::Answered(Status::new(429, 0)));
    assert_eq!(repeated.says(), "eastus");
    // Fewest attempts before longest ago.
    let twice = Ask::new(&multi(), READ)
        .failed("westus3")
        .failed("westus3")
        .failed("northeurope")
        .failed("eastus");
    assert_eq!(twice.says(), "northeurope");
}

#[test]
fn a_tried_region_that_is_available_comes_before_an_untried_one_that_is_not() {
    let ask = Ask::new(&multi(), WRITE).failed("westus3");
    let bad = Stands::writes(&["eastus", "northeurope"], Standing::Bad);
    assert_eq!(ask.clone().marks(bad.clone()).says(), "westus3");
    assert_eq!(ask.circuits(bad).says(), "westus3");
}

#[test]
fn a_due_region_keeps_its_place_and_takes_trial_or_probe_along() {
    let due = |names: &[&str]| Stands::reads(names, Standing::Due);
    let ask = Ask::new(&multi(), READ);
    assert_eq!(ask.clone().marks(due(&["westus3"])).says(), "westus3?");
    assert_eq!(ask.clone().circuits(due(&["westus3"])).says(), "westus3!");
    assert_eq!(
        ask.clone()
            .marks(due(&["westus3"]))
            .circuits(due(&["westus3"]))
            .says(),
        "westus3?!"
    );
    // Due of one kind does not make up for bad of the other.
    let bad = Stands::reads(&["westus3"], Standing::Bad);
    assert_eq!(
        ask.clone()
            .marks(due(&["westus3"]))
            .circuits(bad.clone())
            .says(),
        "eastus"
    );
    assert_eq!(
        ask.clone().marks(bad).circuits(due(&["westus3"])).says(),
        "eastus"
    );
    // When tried regions come again, flags are taken along, too.
    let all = ask.failed("westus3").failed("eastus").failed("northeurope");
    assert_eq!(all.circuits(due(&["westus3"])).says(), "westus3!");
}

#[test]
fn a_stored_procedure_is_never_a_probe_but_may_be_a_trial() {
    let due = Stands::writes(&["westus3"], Standing::Due);
    let ask = Ask::new(&multi(), SPROC);
    assert_eq!(ask.clone().circuits(due.clone()).says(), "eastus");
    assert_eq!(
        ask.clone().first("westus3").circuits(due.clone()).says(),
        "eastus"
    );
    assert_eq!(ask.clone().marks(due.clone()).says(), "westus3?");
    assert_eq!(
        ask.clone().marks(due.clone()).circuits(due).says(),
        "eastus"
    );
    let all_due = Stands::writes(&ABC, Standing::Due);
    assert_eq!(
        ask.circuits(all_due.clone()).says(),
        "westus3",
        "the last resort, as no probe"
    );
    assert_eq!(
        Ask::new(&multi(), WRITE).circuits(all_due).says(),
        "westus3!"
    );
}

#[test]
fn with_none_available_data_goes_to_the_last_resort_first() {
    let bad_reads = Stands::reads(&ABC, Standing::Bad);
    // Single-write: the hub, though West is preferred.
    let ask = Ask::new(&single(), READ).marks(bad_reads.clone());
    assert_eq!(ask.says(), "eastus");
    assert_eq!(ask.clone().failed("eastus").says(), "westus3");
    assert_eq!(
        ask.clone().failed("eastus").failed("westus3").says(),
        "northeurope"
    );
    let all = ask.failed("eastus").failed("westus3").failed("northeurope");
    assert_eq!(all.says(), "eastus");
    assert_eq!(all.failed("eastus").says(), "westus3");
    // Multi-write: the first preferred write region.
    let order = topology(
        &ABC,
        &["northeurope", "eastus"],
        true,
        &["westus3", "eastus"],
    );
    let ask = Ask::new(&order, READ).circuits(bad_reads);
    assert_eq!(ask.says(), "eastus");
    assert_eq!(ask.clone().failed("eastus").says(), "westus3");
    let bad_writes = Stands::writes(&ABC, Standing::Bad);
    assert_eq!(
        Ask::new(&order, WRITE).marks(bad_writes.clone()).says(),
        "eastus"
    );
    assert_eq!(Ask::new(&order, SPROC).marks(bad_writes).says(), "eastus");
}

#[test]
fn with_none_available_exclusions_hold() {
    let ask = Ask::new(&single(), READ).marks(Stands::reads(&ABC, Standing::Bad));
    assert_eq!(ask.clone().exclude(&["eastus"]).says(), "westus3");
    let ask = ask.exclude(&["eastus", "westus3"]);
    assert_eq!(ask.clone().failed("northeurope").says(), "northeurope");
    assert_eq!(ask.strict().says(), "northeurope", "one candidate is left");
}

#[test]
fn a_last_resort_that_is_no_candidate_is_not_made_one() {
    let away = topology(&["westus3", "northeurope"], &["eastus"], false, &[]);
    let ask = Ask::new(&away, READ).marks(Stands::reads(&ABC, Standing::Bad));
    assert_eq!(ask.says(), "westus3");
}

#[test]
fn with_none_available_metadata_goes_to_the_global_endpoint() {
    let bad = Stands(
        ABC.iter()
            .flat_map(|name| {
                [Access::Read, Access::Write].map(|a| (region(name), a, Standing::Bad))
            })
            .collect(),
    );
    for topology in [single(), multi()] {
        for operation in [METADATA_READ, METADATA_WRITE] {
            let ask = Ask::new(&topology, operation).marks(bad.clone());
            assert_eq!(ask.says(), "GLOBAL");
            assert_eq!(ask.made_globally(UNAVAILABLE).strict().says(), "GLOBAL");
        }
    }
    // One that is left is used, though it was tried.
    let ask = Ask::new(&single(), METADATA_READ)
        .failed("northeurope")
        .marks(Stands::reads(&["eastus", "westus3"], Standing::Bad));
    assert_eq!(ask.says(), "northeurope");
}

#[test]
fn without_discovery_everything_goes_to_the_one_endpoint_whatever_happened() {
    let fixed = Topology::fixed(&"http://127.0.0.1:8081".parse().unwrap());
    for operation in [READ, WRITE, SPROC, METADATA_READ, METADATA_WRITE] {
        let ask = Ask::new(&fixed, operation).exclude(&ABC).strict();
        assert_eq!(ask.says(), "GLOBAL");
        assert_eq!(ask.made_globally(UNAVAILABLE).says(), "GLOBAL");
    }
}
