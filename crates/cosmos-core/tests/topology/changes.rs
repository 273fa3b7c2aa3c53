//! One snapshot after another.

use cosmos_core::{Access, Endpoint, Region, Topology};

use crate::{GLOBAL, account, document, endpoint, read, reads, region};

const EAST: &str = "East US";
const WEST: &str = "West US 3";
const NORTH: &str = "North Europe";

/// More than the departed regions that are remembered, which are 16.
const MANY: [&str; 20] = [
    "East US",
    "East US 2",
    "West US",
    "West US 2",
    "West US 3",
    "Central US",
    "North Central US",
    "South Central US",
    "West Central US",
    "Canada East",
    "Canada Central",
    "Brazil South",
    "UK South",
    "UK West",
    "North Europe",
    "West Europe",
    "France Central",
    "Japan East",
    "Japan West",
    "Korea Central",
];

#[test]
fn each_snapshot_has_the_next_number() {
    let first = account(&[EAST], &[EAST], false, &[]);
    let second = account(&[EAST], &[EAST], false, &[]).succeeding(&first);
    let third = account(&[WEST], &[WEST], false, &[]).succeeding(&second);
    assert_eq!(
        [first.generation(), second.generation(), third.generation()],
        [0, 1, 2]
    );
}

#[test]
fn a_region_that_left_is_no_candidate_but_still_reachable() {
    let before = account(&[EAST, WEST], &[EAST], false, &[]);
    let after = account(&[WEST], &[WEST], false, &[]).succeeding(&before);
    assert_eq!(reads(&after), ["westus3"]);
    assert!(!after.lists(region(EAST)));
    assert!(!after.regions().contains(region(EAST)));
    for access in [Access::Read, Access::Write] {
        assert_eq!(
            after
                .endpoint(region(EAST), access)
                .map(Endpoint::to_string),
            Some("https://acct-eastus.documents.azure.com/".to_owned())
        );
    }
    assert!(!after.owns(&"https://acct-eastus.documents.azure.com/".parse().unwrap()));
    assert_eq!(after.regional_endpoints().len(), 1);
}

#[test]
fn a_region_that_left_is_known_for_longer_than_one_snapshot() {
    let first = account(&[EAST, WEST], &[NORTH], false, &[]);
    let second = account(&[WEST], &[WEST], false, &[]).succeeding(&first);
    let third = account(&[WEST], &[WEST], false, &[]).succeeding(&second);
    assert!(third.endpoint(region(EAST), Access::Read).is_some());
    assert!(third.endpoint(region(NORTH), Access::Read).is_some());
}

#[test]
fn a_region_that_came_back_is_reached_where_the_account_now_says() {
    let first = account(&[EAST, WEST], &[EAST], false, &[]);
    let second = account(&[WEST], &[WEST], false, &[]).succeeding(&first);
    let third = read(
        r#"{"readableLocations":[{"name":"East US","databaseAccountEndpoint":"https://new/"}]}"#,
        &[],
    )
    .unwrap()
    .succeeding(&second);
    assert_eq!(
        third.endpoint(region(EAST), Access::Write),
        Some(&endpoint("https://new/"))
    );
    // Once it has left again, its last address counts, not the one from before.
    let fourth = account(&[NORTH], &[NORTH], false, &[]).succeeding(&third);
    assert_eq!(
        fourth.endpoint(region(EAST), Access::Read),
        Some(&endpoint("https://new/"))
    );
}

#[test]
fn only_the_latest_departures_are_remembered() {
    let full = account(&MANY[..16], &[], false, &[]);
    let gone = account(&[MANY[19]], &[], false, &[]).succeeding(&full);
    let known = |topology: &Topology, name| topology.endpoint(region(name), Access::Read).is_some();
    assert!(MANY[..16].iter().all(|name| known(&gone, name)));

    let later = account(&[MANY[18]], &[], false, &[]).succeeding(&gone);
    assert!(known(&later, MANY[19]), "the latest one is remembered");
    let remembered = MANY[..18].iter().filter(|name| known(&later, name)).count();
    assert_eq!(remembered, 15, "and pushes out one of the others");
}

#[test]
fn a_list_differs_by_its_regions_their_order_their_endpoints_and_the_write_mode() {
    let base = account(&[EAST, WEST], &[EAST, WEST], false, &[]);
    let differs = |other: &Topology| {
        (
            base.list_differs(other, Access::Read),
            base.list_differs(other, Access::Write),
        )
    };
    let same = account(&[EAST, WEST], &[EAST, WEST], false, &[WEST]);
    assert_eq!(
        differs(&same),
        (false, false),
        "preferences are not the account's"
    );
    let numbered = account(&[EAST, WEST], &[EAST, WEST], false, &[]).succeeding(&base);
    assert_eq!(differs(&numbered), (false, false));
    assert_eq!(
        differs(&account(&[EAST], &[EAST, WEST], false, &[])),
        (true, false)
    );
    assert_eq!(
        differs(&account(&[WEST, EAST], &[EAST, WEST], false, &[])),
        (true, false)
    );
    assert_eq!(
        differs(&account(&[EAST, WEST], &[WEST, EAST], false, &[])),
        (false, true)
    );
    assert_eq!(
        differs(&account(&[EAST, WEST], &[EAST, WEST], true, &[])),
        (false, true)
    );
    let moved = read(
        r#"{"readableLocations":[
                {"name":"East US","databaseAccountEndpoint":"https://elsewhere/"},
                {"name":"West US 3","databaseAccountEndpoint":"https://acct-westus3.documents.azure.com"}],
            "writableLocations":[
                {"name":"East US","databaseAccountEndpoint":"https://acct-eastus.documents.azure.com"},
                {"name":"West US 3","databaseAccountEndpoint":"https://acct-westus3.documents.azure.com"}]}"#,
        &[],
    )
    .unwrap();
    assert_eq!(differs(&moved), (true, false));
}

#[test]
fn the_global_endpoint_is_never_taken_for_a_region_that_left() {
    let fixed = Topology::fixed(&endpoint("https://elsewhere/"));
    let after = account(&[EAST], &[EAST], false, &[]).succeeding(&fixed);
    assert_eq!(
        after.endpoint(Region::GLOBAL, Access::Read),
        Some(&endpoint(GLOBAL))
    );
    assert!(!after.lists(Region::GLOBAL));
}

#[test]
fn a_host_that_was_the_accounts_is_remembered_as_such() {
    let before = read(&document(&["eastus", "westus3"], &["eastus"], false), &[]).unwrap();
    let after = read(&document(&["eastus"], &["eastus"], false), &[]).unwrap();
    let after = after.succeeding(&before);
    let gone = "https://acct-westus3.documents.azure.com/dbs"
        .parse()
        .unwrap();
    let foreign = "https://elsewhere.test/dbs".parse().unwrap();
    let here = "https://acct-eastus.documents.azure.com/dbs"
        .parse()
        .unwrap();
    assert_eq!(
        [after.owns(&here), after.owns(&gone), after.owns(&foreign)],
        [true, false, false]
    );
    assert_eq!(
        [
            after.owned(&here),
            after.owned(&gone),
            after.owned(&foreign)
        ],
        [false, true, false]
    );
}
