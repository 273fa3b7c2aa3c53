//! Every candidate is excluded.

use cosmos_core::{Outcome, Status, Topology};

use crate::{Ask, METADATA_READ, METADATA_WRITE, READ, SPROC, UNAVAILABLE, WRITE, topology};

const ABC: [&str; 3] = ["eastus", "westus3", "northeurope"];

fn single() -> Topology {
    topology(&ABC, &["eastus"], false, &["westus3"])
}

fn multi() -> Topology {
    topology(&ABC, &ABC, true, &["westus3"])
}

#[test]
fn one_request_goes_to_the_last_resort_and_is_the_only_one() {
    for (topology, operation, expected) in [
        (single(), READ, "eastus="),
        (single(), WRITE, "eastus="),
        (single(), SPROC, "eastus="),
        (multi(), READ, "westus3="),
        (multi(), WRITE, "westus3="),
        (multi(), SPROC, "westus3="),
        (single(), METADATA_READ, "GLOBAL="),
        (single(), METADATA_WRITE, "GLOBAL="),
        (multi(), METADATA_READ, "GLOBAL="),
        (multi(), METADATA_WRITE, "GLOBAL="),
    ] {
        let ask = Ask::new(&topology, operation).exclude(&ABC);
        assert_eq!(ask.says(), expected, "{operation:?}");
        assert_eq!(ask.strict().says(), "Excluded", "{operation:?}");
    }
}

#[test]
fn the_second_request_is_refused_whatever_became_of_the_first() {
    for outcome in [
        UNAVAILABLE,
        Outcome::Answered(Status::new(429, 0)),
        Outcome::Answered(Status::new(404, 1002)),
        Outcome::Abandoned,
        Outcome::InFlight,
    ] {
        let data = Ask::new(&single(), READ)
            .exclude(&ABC)
            .made("eastus", outcome);
        assert_eq!(data.says(), "Excluded", "{outcome:?}");
        assert_eq!(data.pin("eastus").says(), "Excluded", "{outcome:?}");
        for operation in [METADATA_READ, METADATA_WRITE] {
            let mut ask = Ask::new(&single(), operation)
                .exclude(&ABC)
                .made_globally(outcome);
            assert_eq!(ask.says(), "Excluded", "{outcome:?}");
            ask.steering.pin = Some(cosmos_core::Region::GLOBAL);
            assert_eq!(ask.says(), "Excluded", "{outcome:?}");
        }
    }
}

#[test]
fn only_the_candidates_count_not_the_other_list() {
    // The hub alone is excluded: that is every candidate of a write, and one of a read.
    let ask = |operation| Ask::new(&single(), operation).exclude(&["eastus"]).says();
    assert_eq!(ask(WRITE), "eastus=");
    assert_eq!(ask(METADATA_WRITE), "GLOBAL=");
    assert_eq!(ask(READ), "westus3");
    // On a multi-write account other regions take the write, but not the metadata.
    let ask = |operation| Ask::new(&multi(), operation).exclude(&["eastus"]).says();
    assert_eq!(ask(WRITE), "westus3");
    assert_eq!(ask(METADATA_WRITE), "GLOBAL=");
}

#[test]
fn if_the_regions_change_the_operation_stays_where_it_may_be() {
    // The write region moves from East to West, which the caller excludes.
    let after = topology(&ABC, &["westus3"], false, &[]).succeeding(&single());
    let forbidden = Outcome::Answered(Status::WRITE_FORBIDDEN);
    let ask = Ask::new(&after, WRITE)
        .exclude(&["westus3"])
        .made("eastus", forbidden);
    assert_eq!(ask.says(), "eastus");
    assert_eq!(ask.clone().made("eastus", forbidden).says(), "eastus");
    assert_eq!(ask.strict().says(), "eastus", "it is not excluded");
}

#[test]
fn it_stays_even_if_that_region_has_left_the_account() {
    let after = topology(&["westus3"], &["westus3"], false, &[]).succeeding(&single());
    let moved = Outcome::Answered(Status::DATABASE_ACCOUNT_NOT_FOUND);
    let ask = Ask::new(&after, READ)
        .exclude(&["westus3"])
        .made("eastus", moved);
    assert_eq!(ask.says(), "eastus");
    // Not if nobody knows where that region was.
    let unknown = topology(&["westus3"], &["westus3"], false, &[]);
    let ask = Ask::new(&unknown, READ)
        .exclude(&["westus3"])
        .made("eastus", moved);
    assert_eq!(ask.says(), "Excluded");
}
