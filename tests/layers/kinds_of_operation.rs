//! Every kind of request that a caller can build is bounded, repeated and kept out of excluded
//! regions alike: reads as reads, writes as writes, whatever their path and headers look like.

use bytes::Bytes;
use cosmos_core::requests::{self, RequestBuilder};
use cosmos_core::{FailureKind, OperationOptions, Status};
use cosmos_testbed::scripted::{Document, Step};
use cosmos_tests::{Lab, Req, always, ms, with};
use tokio::time::Instant;

const DATA: &[u8] = b"{\"id\":\"1\"}";

/// Reads of items, by name.
fn item_reads() -> Vec<(&'static str, Req)> {
    let key = &"p".into();
    built([
        ("read", requests::read_item("d", "c", "1", key)),
        ("head", requests::head_item("d", "c", "1", key)),
        ("query", requests::query_items("d", "c", "SELECT * FROM c")),
        ("feed", requests::read_feed("d", "c")),
        ("change feed", requests::change_feed("d", "c")),
    ])
}

/// Reads of metadata, by name.
fn metadata_reads() -> Vec<(&'static str, Req)> {
    let plan = requests::query_plan("d", "c", "SELECT * FROM c", "OrderBy");
    built([
        ("query plan", plan),
        ("container", requests::read_container("d", "c")),
        ("database", requests::read_database("d")),
        ("databases", requests::list_databases()),
        ("ranges", requests::read_partition_key_ranges("d", "c")),
        ("offers", requests::query_offers("SELECT * FROM o")),
    ])
}

/// Writes of items, by name.
fn item_writes() -> Vec<(&'static str, Req)> {
    let key = &"p".into();
    let data = || Bytes::from_static(DATA);
    let batch = Bytes::from_static(b"[]");
    built([
        ("create", requests::create_item("d", "c", key, data())),
        ("upsert", requests::upsert_item("d", "c", key, data())),
        (
            "replace",
            requests::replace_item("d", "c", "1", key, data()),
        ),
        ("patch", requests::patch_item("d", "c", "1", key, data())),
        ("delete", requests::delete_item("d", "c", "1", key)),
        ("batch", requests::batch("d", "c", key, batch)),
        (
            "delete by key",
            requests::delete_by_partition_key("d", "c", key),
        ),
    ])
}

fn built<const N: usize>(
    builders: [(&'static str, RequestBuilder); N],
) -> Vec<(&'static str, Req)> {
    let build = |(name, builder): (_, RequestBuilder)| (name, builder.build().expect(name));
    builders.into_iter().map(build).collect()
}

fn all() -> Vec<(&'static str, Req)> {
    let metadata_writes = built([
        ("new database", requests::create_database("d")),
        ("no container", requests::delete_container("d", "c")),
    ]);
    let procedure =
        requests::execute_stored_procedure("d", "c", "s", &"p".into(), Bytes::from_static(b"[]"));
    [
        item_reads(),
        metadata_reads(),
        item_writes(),
        metadata_writes,
    ]
    .into_iter()
    .chain([built([("procedure", procedure)])])
    .flatten()
    .collect()
}

#[tokio::test(start_paused = true)]
async fn each_ends_at_its_deadline_while_every_region_hangs() {
    for (name, request) in all() {
        let lab = Lab::new(Document::multi_write(["A", "B"]));
        for region in ["A", "B", "global"] {
            lab.regions.script(region, [Step::hang().forever()]);
        }
        let began = Instant::now();
        let options = OperationOptions::new().timeout(ms(1000));
        let seen = lab.send(with(request, options)).await;
        assert_eq!(seen.status(), Status::CLIENT_OPERATION_TIMEOUT, "{name}");
        assert!(began.elapsed() <= ms(1001), "{name}: {:?}", began.elapsed());
        assert!(lab.wire().len() <= 2, "{name}: each region once at most");
        assert_eq!(lab.regions.open(), 0, "{name}");
    }
}

#[tokio::test(start_paused = true)]
async fn reads_of_every_kind_get_past_a_region_that_fails_or_hangs() {
    for step in [
        Step::status(503, 0),
        Step::status(410, 0),
        Step::fail(FailureKind::Dns),
        Step::hang(),
    ] {
        for (name, request) in item_reads().into_iter().chain(metadata_reads()) {
            let lab = Lab::new(Document::single_write(["A", "B"]));
            lab.regions.script("A", [step.clone().forever()]);
            let seen = lab.send(request).await;
            assert!(seen.status().is_success(), "{name} {step:?}: {seen:?}");
            assert_eq!(lab.wire().regions(), "A B", "{name} {step:?}");
        }
    }
}

#[tokio::test(start_paused = true)]
async fn writes_of_items_of_every_kind_are_repeated_in_the_next_region() {
    for step in [
        Step::status(503, 0),
        Step::status(408, 0),
        Step::status(410, 0),
        Step::status(403, 3),
        Step::fail(FailureKind::AttemptTimeout),
    ] {
        for (name, request) in item_writes() {
            let lab = Lab::new(Document::multi_write(["A", "B"]));
            lab.regions.script("A", [step.clone()]);
            let seen = lab.send(request.clone()).await;
            assert!(seen.status().is_success(), "{name} {step:?}: {seen:?}");
            assert_eq!(lab.wire().regions(), "A B", "{name} {step:?}");

            let hub = Lab::new(Document::single_write(["A", "B"]));
            hub.regions.script("A", [step.clone()]);
            assert!(hub.send(request).await.status().is_success(), "{name}");
            assert_eq!(hub.wire().regions(), "A A", "{name} {step:?}");
        }
    }
}

#[tokio::test(start_paused = true)]
async fn throttling_of_any_kind_is_waited_for_where_it_happened() {
    for (name, request) in all() {
        let lab = Lab::new(Document::multi_write(["A", "B"]));
        let throttled = || Step::status(429, 3200).hint("20");
        lab.regions.script("A", [throttled(), throttled()]);
        let seen = lab.send(request).await;
        assert!(seen.status().is_success(), "{name}: {seen:?}");
        assert_eq!(lab.wire().regions(), "A A A", "{name}");
        assert_eq!(lab.wire().times_ms(), [0, 20, 40], "{name}");
    }
}

#[tokio::test(start_paused = true)]
async fn an_excluded_region_sees_none_of_them() {
    for steps in [always(503, 0), always(403, 1008), always(404, 1002)] {
        for (name, request) in all() {
            // Metadata writes go to the hub, whatever it is called.
            let lab = Lab::new(Document::multi_write(["B", "A"]));
            lab.regions.script("B", steps.clone());
            let options = OperationOptions::new().exclude_regions(["A"]).unwrap();
            let _ = lab.send(with(request, options)).await;
            let wire = lab.wire();
            assert!(wire.count("B") > 0, "{name}");
            assert_eq!(wire.count("A"), 0, "{name}\n{wire}");
        }
    }
}

#[tokio::test(start_paused = true)]
async fn each_gives_up_where_nothing_can_be_reached() {
    for (name, request) in all() {
        let lab = Lab::new(Document::multi_write(["A", "B"]));
        for region in ["A", "B", "global"] {
            let refused = Step::fail(FailureKind::Refused).forever();
            lab.regions.script(region, [refused]);
        }
        let seen = lab.send(request).await;
        assert_eq!(seen.error().kind(), FailureKind::Refused, "{name}");
        // Four attempts, of which each endpoint's first is repeated over another connection.
        assert!(lab.wire().len() <= 4 + 3, "{name}\n{}", lab.wire());
    }
}
