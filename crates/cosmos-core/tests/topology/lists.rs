//! The orders in which regions are tried, and where they are reached.

use cosmos_core::{Access, Endpoint, Region, Topology};

use crate::{GLOBAL, account, endpoint, names, read, reads, region, writes};

const EAST: &str = "East US";
const WEST: &str = "West US 3";
const NORTH: &str = "North Europe";
const JAPAN: &str = "Japan East";

#[test]
fn reads_follow_the_preferred_regions_and_then_the_account() {
    for (preferred, order) in [
        (&[][..], ["eastus", "westus3", "northeurope"]),
        (&[NORTH], ["northeurope", "eastus", "westus3"]),
        (&[WEST, NORTH, EAST], ["westus3", "northeurope", "eastus"]),
        (
            &[WEST, "WESTUS3", "west-us_3", NORTH],
            ["westus3", "northeurope", "eastus"],
        ),
        (
            &["Mars", NORTH, "Japan East"],
            ["northeurope", "eastus", "westus3"],
        ),
    ] {
        for multi_write in [false, true] {
            let topology = account(&[EAST, WEST, NORTH], &[EAST], multi_write, preferred);
            assert_eq!(reads(&topology), order, "{preferred:?}");
        }
    }
}

#[test]
fn writes_of_a_single_write_account_go_to_its_first_entry_whatever_is_preferred() {
    let topology = account(&[EAST, WEST, NORTH], &[WEST], false, &[NORTH, EAST]);
    assert_eq!(writes(&topology), ["westus3"]);
    assert_eq!(topology.hub(), Some(region(WEST)));
    assert_eq!(topology.last_resort(), Some(region(WEST)));

    // While the write region moves, two may be listed; the flag decides, not the length.
    let moving = account(&[EAST, WEST, NORTH], &[EAST, WEST], false, &[WEST, NORTH]);
    assert_eq!(writes(&moving), ["eastus", "westus3"]);
    assert_eq!(moving.hub(), Some(region(EAST)));
    assert_eq!(moving.last_resort(), Some(region(EAST)));
    assert!(!moving.is_multi_write());
}

#[test]
fn writes_of_a_multi_write_account_follow_the_preferred_regions() {
    let topology = account(
        &[EAST, WEST, NORTH],
        &[EAST, WEST, NORTH],
        true,
        &[NORTH, WEST],
    );
    assert_eq!(writes(&topology), ["northeurope", "westus3", "eastus"]);
    assert_eq!(
        topology.hub(),
        Some(region(EAST)),
        "the hub is the account's"
    );
    assert_eq!(topology.last_resort(), Some(region(NORTH)));
}

#[test]
fn a_region_that_is_preferred_but_not_writable_is_no_candidate_for_writes() {
    let topology = account(&[EAST, WEST, NORTH], &[EAST, WEST], true, &[NORTH, WEST]);
    assert_eq!(reads(&topology), ["northeurope", "westus3", "eastus"]);
    assert_eq!(writes(&topology), ["westus3", "eastus"]);
    assert_eq!(topology.last_resort(), Some(region(WEST)));
}

#[test]
fn an_empty_list_is_replaced_by_the_other_one() {
    let no_readable = account(&[], &[EAST, WEST], true, &[WEST]);
    assert_eq!(reads(&no_readable), ["westus3", "eastus"]);
    assert_eq!(writes(&no_readable), ["westus3", "eastus"]);
    assert_eq!(no_readable.hub(), Some(region(EAST)));

    let no_writable = account(&[EAST, WEST], &[], false, &[WEST]);
    assert_eq!(reads(&no_writable), ["westus3", "eastus"]);
    assert_eq!(writes(&no_writable), ["eastus", "westus3"]);
    assert_eq!(no_writable.hub(), Some(region(EAST)));
    assert_eq!(no_writable.last_resort(), Some(region(EAST)));
}

#[test]
fn the_hub_is_the_accounts_even_if_no_write_region_is_listed_for_a_while() {
    let topology = account(&[EAST, WEST], &[], true, &[WEST]);
    assert_eq!(topology.hub(), Some(region(EAST)));
    assert_eq!(topology.last_resort(), Some(region(WEST)));
}

#[test]
fn preferred_regions_that_the_account_does_not_have_are_told() {
    let topology = account(
        &[EAST, WEST],
        &[NORTH],
        false,
        &["Wset US", WEST, JAPAN, NORTH],
    );
    assert_eq!(
        names(topology.unknown_preferences()),
        ["wsetus", "japaneast"]
    );
    assert!(
        account(&[EAST], &[EAST], false, &[EAST])
            .unknown_preferences()
            .is_empty()
    );
}

#[test]
fn both_lists_count_as_the_accounts_regions() {
    let topology = account(&[WEST, EAST], &[NORTH], false, &[EAST]);
    assert!(topology.lists(region(EAST)) && topology.lists(region(NORTH)));
    assert!(!topology.lists(region(JAPAN)) && !topology.lists(Region::GLOBAL));
    let all = [EAST, WEST, NORTH].map(region).into_iter().collect();
    assert_eq!(topology.regions(), all);
    assert_eq!(
        topology.readable().collect::<Vec<_>>(),
        [WEST, EAST].map(region)
    );
    assert_eq!(topology.writable().collect::<Vec<_>>(), [NORTH].map(region));
}

/// East and West with different hosts for reads and writes, North for reads only.
fn split() -> Topology {
    read(
        r#"{"readableLocations":[
                {"name":"East US","databaseAccountEndpoint":"https://read-east/"},
                {"name":"North Europe","databaseAccountEndpoint":"http://read-north:8081"}],
            "writableLocations":[
                {"name":"East US","databaseAccountEndpoint":"https://write-east/"},
                {"name":"West US 3","databaseAccountEndpoint":"https://write-west/"}]}"#,
        &[],
    )
    .unwrap()
}

#[test]
fn each_access_has_its_own_endpoint_and_borrows_the_other_ones() {
    let topology = split();
    let at = |name, access| {
        topology
            .endpoint(region(name), access)
            .map(Endpoint::to_string)
    };
    let url = |url: &str| Some(url.to_owned());
    assert_eq!(at(EAST, Access::Read), url("https://read-east/"));
    assert_eq!(at(EAST, Access::Write), url("https://write-east/"));
    assert_eq!(at(WEST, Access::Read), url("https://write-west/"));
    assert_eq!(at(NORTH, Access::Write), url("http://read-north:8081/"));
    assert_eq!(at(JAPAN, Access::Read), None);
    for access in [Access::Read, Access::Write] {
        assert_eq!(
            topology.endpoint(Region::GLOBAL, access),
            Some(&endpoint(GLOBAL))
        );
    }
}

#[test]
fn it_owns_uris_of_its_endpoints_and_no_others() {
    let topology = split();
    for (uri, owned) in [
        ("https://acct.documents.azure.com/dbs/d", true),
        ("https://ACCT.documents.azure.com:443/", true),
        ("https://read-east/x?y", true),
        ("https://write-east/", true),
        ("https://write-west:443/", true),
        ("http://read-north:8081/", true),
        ("http://acct.documents.azure.com/", false),
        ("https://acct.documents.azure.com:8443/", false),
        ("https://acct.documents.azure.com.evil.example/", false),
        ("https://read-north:8081/", false),
        ("http://read-north/", false),
        ("https://other/", false),
        ("/dbs/d", false),
    ] {
        assert_eq!(topology.owns(&uri.parse().unwrap()), owned, "{uri}");
    }
}

#[test]
fn the_document_is_read_from_each_regional_endpoint_once_in_the_order_of_reads() {
    let urls = |topology: &Topology| -> Vec<String> {
        topology
            .regional_endpoints()
            .iter()
            .map(Endpoint::to_string)
            .collect()
    };
    assert_eq!(
        urls(&account(&[EAST, WEST], &[EAST], false, &[WEST])),
        [
            "https://acct-westus3.documents.azure.com/",
            "https://acct-eastus.documents.azure.com/"
        ]
    );
    // An emulator answers every region, and the account as a whole, at one address.
    let emulator = read(
        r#"{"readableLocations":[
            {"name":"East US","databaseAccountEndpoint":"https://acct.documents.azure.com"},
            {"name":"West US 3","databaseAccountEndpoint":"https://other/"},
            {"name":"North Europe","databaseAccountEndpoint":"https://other:443"}]}"#,
        &[],
    )
    .unwrap();
    assert_eq!(urls(&emulator), ["https://other/"]);
}

#[test]
fn without_discovery_everything_goes_to_the_one_endpoint() {
    let only = endpoint("http://127.0.0.1:8081");
    let topology = Topology::fixed(&only);
    assert_eq!(topology.order(Access::Read), [Region::GLOBAL]);
    assert_eq!(topology.order(Access::Write), [Region::GLOBAL]);
    assert_eq!(topology.hub(), Some(Region::GLOBAL));
    assert_eq!(topology.last_resort(), Some(Region::GLOBAL));
    assert_eq!(
        topology.endpoint(Region::GLOBAL, Access::Write),
        Some(&only)
    );
    assert!(topology.owns(&"http://127.0.0.1:8081/dbs".parse().unwrap()));
    assert!(topology.regional_endpoints().is_empty());
    assert!(topology.unknown_preferences().is_empty());
    assert!(!topology.is_multi_write() && !topology.has_per_partition_failover());
    assert_eq!(topology.generation(), 0);
}
