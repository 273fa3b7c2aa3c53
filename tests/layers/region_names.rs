//! Names of regions: how callers spell them, and names that the account does not know.

use cosmos_core::OperationOptions;
use cosmos_testbed::scripted::{Document, Step};
use cosmos_tests::{Lab, always, create, read, with};

const SPELLINGS: [&str; 5] = [
    "West US 3",
    "westus3",
    "WEST-US-3",
    "west_us_3",
    "  west us3 ",
];

fn regions() -> Document {
    Document::multi_write(["East US", "West US 3"])
}

#[tokio::test(start_paused = true)]
async fn every_spelling_of_a_region_is_understood_wherever_a_caller_names_one() {
    for spelling in SPELLINGS {
        let lab = Lab::with(regions(), |a| a.preferred_regions([spelling]));
        assert_eq!(lab.send(read()).await.status().code(), 200);
        assert_eq!(lab.wire().regions(), "West US 3", "{spelling:?} preferred");

        let lab = Lab::with(regions(), |a| {
            a.preferred_regions(["West US 3"])
                .excluded_regions([spelling])
        });
        lab.regions.script("East US", always(503, 0));
        let _ = lab.send(read()).await;
        assert_eq!(lab.wire().count("West US 3"), 0, "{spelling:?} excluded");

        let lab = Lab::with(regions(), |a| a.preferred_regions(["West US 3"]));
        lab.regions.script("East US", always(503, 0));
        let options = OperationOptions::new().exclude_regions([spelling]).unwrap();
        let _ = lab.send(with(create(), options)).await;
        assert_eq!(lab.wire().count("West US 3"), 0, "{spelling:?} left out");
        assert!(lab.wire().count("East US") > 0);
    }
}

#[tokio::test(start_paused = true)]
async fn only_regions_of_the_account_are_contacted_whatever_is_preferred() {
    // A host that the account does not name makes the scripted account fail the request.
    for document in [
        Document::single_write(["A", "B"]),
        Document::multi_write(["A", "B"]),
    ] {
        let lab = Lab::with(document, |a| {
            a.preferred_regions(["Mars", "B", "Japan East"])
        });
        lab.regions.script("B", [Step::status(503, 0)]);
        assert_eq!(lab.send(read()).await.status().code(), 200);
        assert_eq!(lab.wire().regions(), "B A");
        lab.regions.clear_wire();
        for _ in 0..3 {
            assert_eq!(lab.send(create()).await.status().code(), 201);
        }
        assert_eq!(lab.wire().len(), 3, "{}", lab.wire());
    }
}

#[tokio::test(start_paused = true)]
async fn without_preferences_the_accounts_own_order_is_used() {
    let none: [&str; 0] = [];
    let lab = Lab::with(Document::single_write(["C", "A", "B"]), |a| {
        a.preferred_regions(none)
    });
    for region in ["C", "A"] {
        lab.regions.script(region, [Step::status(503, 0)]);
    }
    assert_eq!(lab.send(read()).await.status().code(), 200);
    assert_eq!(lab.wire().regions(), "C A B");
}

#[tokio::test(start_paused = true)]
async fn reads_follow_the_list_of_readable_regions_and_writes_the_other() {
    let document = Document::multi_write(["A", "B", "C"]).writable(["C", "B"]);
    let lab = Lab::new(document);
    for _ in 0..2 {
        lab.regions.script("B", [Step::status(503, 0)]);
        assert_eq!(lab.send(create()).await.status().code(), 201);
        assert_eq!(lab.send(read()).await.status().code(), 200);
        tokio::time::sleep(cosmos_tests::s(61)).await;
    }
    assert_eq!(lab.wire().regions(), "B C A B C A");
}
