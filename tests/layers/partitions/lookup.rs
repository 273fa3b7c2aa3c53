//! Who says which partition it is: the caller, the partition key, or nobody.

use cosmos_core::{PartitionKey, RangeId, requests};
use cosmos_testbed::scripted::{Container, Document, Step};
use cosmos_tests::{Lab, Req, ms, read, read_metadata, recommended, s, with};

use super::{LINK, around, journal, lab, layers, named, range, split};

fn read_of(key: &PartitionKey) -> Req {
    requests::read_item("d", "c", "1", key).build().unwrap()
}

#[tokio::test(start_paused = true)]
async fn the_first_operation_reads_the_container_and_the_others_know_it() {
    let lab = lab();
    for _ in 0..3 {
        let journal = journal(&lab, read()).await;
        assert_eq!(journal.range(), Some(RangeId::from(0)), "{journal}");
    }
    let reads = lab.regions.container_reads();
    assert_eq!(reads.regions(), "A A A", "{reads}");
    assert_eq!(lab.wire().regions(), "A A A");
}

#[tokio::test(start_paused = true)]
async fn the_callers_option_comes_before_its_header_and_that_before_the_key() {
    let lab = around(split());
    let header = || {
        let request = requests::read_item("d", "c", "1", &"p".into());
        request.partition_key_range_id("8").build().unwrap()
    };
    let option = journal(&lab, with(header(), named("9"))).await;
    assert_eq!(option.range(), Some(RangeId::from(9)));
    assert_eq!(
        journal(&lab, header()).await.range(),
        Some(RangeId::from(8))
    );
    assert!(
        lab.regions.container_reads().is_empty(),
        "nothing to find out"
    );
    assert_eq!(range(&lab).await, Some(RangeId::from(1)));
}

#[tokio::test(start_paused = true)]
async fn what_the_caller_named_is_not_corrected() {
    let lab = around(split());
    let name = http::HeaderName::from_static("x-ms-documentdb-partitionkeyrangeid");
    lab.regions
        .script("A", [Step::status(200, 0).header(name, "2")]);
    let journal = journal(&lab, with(read(), named("9"))).await;
    assert_eq!(journal.range(), Some(RangeId::from(9)));
}

/// A container that is split at an effective key and right after it: range 1 is before, 2 is it
/// alone, 3 is behind.
fn around_epk(container: Container, epk: &str) -> Container {
    container
        .split("0", epk, ["1", "rest"])
        .split("rest", &format!("{epk}01"), ["2", "3"])
}

#[tokio::test(start_paused = true)]
async fn keys_are_hashed_as_the_container_says() {
    let redmond = || PartitionKey::from("redmond");
    let v1 = "05C1EFE313830C087366656E706F6500";
    let v2 = "22E342F38A486A088463DFF7838A5963";
    for (container, epk, key) in [
        (Container::new("rid"), v2.to_owned(), redmond()),
        (
            Container::new("rid").unversioned(),
            v1.to_owned(),
            redmond(),
        ),
        (
            Container::new("rid").hierarchical(&["/city", "/street"]),
            format!("{v2}19C08621B135968252FB34B4CF66F811"),
            PartitionKey::from(("redmond", 5)),
        ),
    ] {
        let lab = around(around_epk(container, &epk));
        let journal = journal(&lab, read_of(&key)).await;
        assert_eq!(journal.range(), Some(RangeId::from(2)), "{epk}");
    }
}

#[tokio::test(start_paused = true)]
async fn values_of_every_kind_are_hashed_from_the_header_that_is_sent() {
    for (key, v1, v2) in [
        (
            PartitionKey::null(),
            "05C1ED45D7475601",
            "378867E4430E67857ACE5C908374FE16",
        ),
        (
            PartitionKey::undefined(),
            "05C1D529E345DC00",
            "11622DAA78F835834610ABE56EFF5CB5",
        ),
        (
            PartitionKey::from(true),
            "05C1D7C5A903D803",
            "0E711127C5B5A8E4726AC6DD306A3E59",
        ),
        (
            PartitionKey::from(5),
            "05C1D9C1C5517C05C014",
            "19C08621B135968252FB34B4CF66F811",
        ),
        (
            PartitionKey::from(""),
            "05C1CF33970FF80800",
            "32E9366E637A71B4E710384B2F4970A0",
        ),
        (
            PartitionKey::from("日本"),
            "05C1DB17971FC408E798A6E79DAD00",
            "2F64A78CFF1F1D412A8B6220090E9767",
        ),
    ] {
        let containers = [
            (Container::new("rid").unversioned(), v1),
            (Container::new("rid"), v2),
        ];
        for (container, epk) in containers {
            let lab = around(around_epk(container, epk));
            let journal = journal(&lab, read_of(&key)).await;
            assert_eq!(journal.range(), Some(RangeId::from(2)), "{key:?} {epk}");
        }
    }
}

#[tokio::test(start_paused = true)]
async fn the_beginning_of_a_hierarchical_key_has_a_partition_only_if_it_is_one() {
    let v2 = "22E342F38A486A088463DFF7838A5963";
    let tree = || Container::new("rid").hierarchical(&["/city", "/street"]);
    let one = around(tree().split("0", "30", ["1", "2"]));
    let prefix = PartitionKey::from("redmond");
    let found = journal(&one, read_of(&prefix)).await;
    assert_eq!(found.range(), Some(RangeId::from(1)));
    let several = around(tree().split("0", &format!("{v2}19"), ["1", "2"]));
    let not_found = journal(&several, read_of(&prefix)).await;
    assert_eq!(not_found.range(), None);
    assert!(not_found.range_problem().is_some());
    assert_eq!(several.wire().regions(), "A", "it is sent all the same");
}

#[tokio::test(start_paused = true)]
async fn an_operation_without_a_key_reads_nothing_and_has_no_partition() {
    let lab = lab();
    let query = requests::query_items("d", "c", "SELECT * FROM c");
    for request in [query.build().unwrap(), read_metadata()] {
        let journal = journal(&lab, request).await;
        assert_eq!((journal.range(), journal.range_problem()), (None, None));
    }
    let data = lab.wire();
    let reads = lab.regions.container_reads();
    // The caller's own read of the container is one.
    assert_eq!((data.len(), reads.len()), (1, 1), "{reads}");
}

#[tokio::test(start_paused = true)]
async fn a_container_that_cannot_be_read_fails_no_operation() {
    for step in [
        Step::status(404, 0),
        Step::status(403, 0),
        Step::status(500, 0),
        Step::status(200, 0).body("<html>"),
        Step::status(200, 0).body("{}"),
    ] {
        let lab = lab();
        for region in ["A", "B", "C"] {
            lab.regions
                .script_container_reads(region, [step.clone().forever()]);
        }
        let journal = journal(&lab, read()).await;
        assert_eq!(journal.range(), None);
        assert!(journal.range_problem().is_some(), "{step:?}");
        assert_eq!(lab.wire().regions(), "A");
    }
}

#[tokio::test(start_paused = true)]
async fn a_container_that_is_not_there_says_so_in_the_journal() {
    let lab = lab();
    lab.regions
        .script_container_reads("A", [Step::status(404, 0)]);
    let problem = journal(&lab, read()).await.range_problem().unwrap();
    assert!(problem.contains("404"), "{problem}");
}

#[tokio::test(start_paused = true)]
async fn an_operation_waits_a_second_for_its_container_and_goes_on() {
    let lab = lab();
    for region in ["A", "B", "C"] {
        lab.regions
            .script_container_reads(region, [Step::hang().forever()]);
    }
    lab.account.refresh().await;
    let start = lab.regions.elapsed();
    let first = journal(&lab, read()).await;
    assert_eq!(lab.regions.elapsed(), start + s(1));
    assert!(
        first.range_problem().unwrap().contains("in time"),
        "{first}"
    );
    for _ in 0..10 {
        let later = journal(&lab, read()).await;
        assert!(later.range_problem().is_some());
    }
    assert_eq!(lab.regions.elapsed(), start + s(1), "nobody waits longer");
    assert_eq!(lab.wire().len(), 11);
    assert_eq!(lab.regions.container_reads().len(), 1);
}

#[tokio::test(start_paused = true)]
async fn who_comes_later_to_a_slow_read_waits_no_longer_than_the_first() {
    let lab = lab();
    lab.regions
        .script_container_reads("A", [Step::hang().forever()]);
    lab.account.refresh().await;
    let start = lab.regions.elapsed();
    tokio::join!(journal(&lab, read()), async {
        tokio::time::sleep(ms(700)).await;
        journal(&lab, read()).await;
        assert_eq!(lab.regions.elapsed(), start + s(1));
    });
}

#[tokio::test(start_paused = true)]
async fn the_time_that_an_operation_waits_can_be_set() {
    let lab = Lab::around(
        Document::multi_write(["A", "B"]),
        |account| account,
        |account| layers(account).partition(|layer| layer.lookup_limit(ms(50))),
    );
    lab.regions.set_container(LINK, Container::new("rid"));
    lab.regions
        .script_container_reads("A", [Step::status(200, 0).body("{}").after(ms(60))]);
    lab.account.refresh().await;
    let start = lab.regions.elapsed();
    assert_eq!(range(&lab).await, None);
    assert_eq!(lab.regions.elapsed(), start + ms(50));
}

#[tokio::test(start_paused = true)]
async fn a_deadline_shorter_than_the_lookup_leaves_time_for_the_operation() {
    let lab = lab();
    for region in ["A", "B", "C"] {
        lab.regions
            .script_container_reads(region, [Step::hang().forever()]);
    }
    lab.account.refresh().await;
    let options = cosmos_core::OperationOptions::new().timeout(ms(300));
    let seen = lab.send(with(read(), options)).await;
    assert_eq!(seen.status().code(), 200);
    let journal = seen.journal.unwrap();
    assert!(journal.range_problem().unwrap().contains("in time"));
    assert_eq!(lab.wire().regions(), "A");
}

#[tokio::test(start_paused = true)]
async fn a_deadline_that_has_passed_reads_nothing() {
    let lab = lab();
    lab.account.refresh().await;
    let options = cosmos_core::OperationOptions::new().timeout(ms(0));
    let seen = lab.send(with(read(), options)).await;
    assert_eq!(seen.status().to_string(), "408/20008");
    assert!(lab.wire().is_empty());
}

#[tokio::test(start_paused = true)]
async fn switched_off_only_the_callers_word_counts() {
    let lab = Lab::around(
        Document::multi_write(["A", "B"]),
        |account| account,
        recommended,
    );
    lab.regions.set_container(LINK, Container::new("rid"));
    assert_eq!(range(&lab).await, None);
    let named = journal(&lab, with(read(), named("0"))).await;
    assert_eq!(named.range(), Some(RangeId::from(0)));
    assert!(lab.regions.container_reads().is_empty());
}
