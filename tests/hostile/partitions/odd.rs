use bytes::Bytes;
use cosmos_core::{OperationOptions, headers};
use cosmos_testbed::scripted::{Container, Step};
use cosmos_tests::{Req, ms, with};
use http::{HeaderValue, Request};
use http_body_util::Full;
use tokio::time::Instant;

use super::{LINK, lab_with, multi};

fn read_of(path: &str, key: &[u8]) -> Option<Req> {
    let key = HeaderValue::from_bytes(key).ok()?;
    Request::get(path)
        .header(headers::PARTITION_KEY, key)
        .body(Full::new(Bytes::new()))
        .ok()
}

#[tokio::test(start_paused = true)]
async fn odd_names_of_containers_cost_nothing_and_read_no_other_container() {
    let (lab, _) = lab_with(multi(), |layers| {
        layers.partition(|layer| layer.enabled(true))
    });
    lab.regions.set_container(LINK, Container::new("rid"));
    let long = "x".repeat(60_000);
    for name in [
        "%FF",
        "%FE",
        "..",
        ".",
        "%2e%2e",
        "c%3Fx",
        "c%23",
        "%E2%98%83",
        "%00",
        "a%20b",
        "%",
        "%zz",
        "AbcdAMxyzwE=",
        "c%5Cd",
        "c+d",
        "~",
        "c;d=1",
        long.as_str(),
    ] {
        let Some(request) = read_of(&format!("/dbs/d/colls/{name}/docs/1"), br#"["p"]"#) else {
            panic!("{name:.20}");
        };
        lab.regions.clear_wire();
        let began = Instant::now();
        let seen = lab.send(request).await;
        assert!(seen.status().is_success(), "{name:.20}");
        assert!(began.elapsed() <= ms(1100), "{name:.20}");
        let range = seen.journal.unwrap().range();
        assert_eq!(range, None, "{name:.20} {}", lab.regions.container_reads());
    }
}

#[tokio::test(start_paused = true)]
async fn odd_partition_keys_fail_nothing() {
    let (lab, _) = lab_with(multi(), |layers| {
        layers.partition(|layer| layer.enabled(true))
    });
    lab.regions.set_container(LINK, Container::new("rid"));
    let deep = "[".repeat(60_000);
    let long = format!("[\"{}\"]", "x".repeat(60_000));
    let keys: &[&[u8]] = &[
        b"",
        b"[",
        b"[]",
        b"{}",
        b"[{}]",
        b"[{},{}]",
        b"[[]]",
        b"[1e400]",
        b"[-0]",
        b"[NaN]",
        b"null",
        b"[\"\\ud800\"]",
        b"[\"\\u0000\"]",
        b"\xff\xfe",
        b"[\"\xc3\xa9\"]",
        b"[\"\xff\"]",
        b"[1,2,3]",
        b"[true]",
        b" [ \"p\" ] ",
        b"[\"p\"]x",
        deep.as_bytes(),
        long.as_bytes(),
    ];
    for key in keys {
        let request = read_of("/dbs/d/colls/c/docs/1", key).unwrap();
        let seen = lab.send(request).await;
        assert!(seen.status().is_success(), "{key:.20?}");
    }
}

#[tokio::test(start_paused = true)]
async fn odd_range_ids_trip_and_steer_or_count_as_untracked() {
    let (lab, circuits) = lab_with(multi(), |layers| layers);
    let long = "9".repeat(100_000);
    for id in [
        "",
        " ",
        "\u{0}",
        "é",
        "-1",
        "00",
        "4294967296",
        "0,1",
        "../x",
        long.as_str(),
    ] {
        lab.regions.script("A", vec![Step::status(503, 0); 10]);
        for _ in 0..10 {
            let options = OperationOptions::new().partition_key_range(id);
            let _ = lab.send(with(cosmos_tests::read(), options)).await;
        }
    }
    let counters = circuits.counters();
    assert_eq!(counters.open, 9, "{counters:?}");
    assert!(counters.untracked > 0, "{counters:?}");
}

#[tokio::test(start_paused = true)]
async fn odd_headers_of_answers_fail_nothing() {
    let (lab, _) = lab_with(multi(), |layers| {
        layers.partition(|layer| layer.enabled(true))
    });
    lab.regions.set_container(LINK, Container::new("rid"));
    let long = "x".repeat(1_000_000);
    for value in ["", " ", "\u{e9}", "0,1", long.as_str()] {
        for name in [
            headers::PARTITION_KEY_RANGE_ID,
            headers::CONTENT_PATH,
            headers::SUBSTATUS,
        ] {
            lab.regions
                .script("A", [Step::status(200, 0).header(name, value)]);
            let seen = lab.send(cosmos_tests::read()).await;
            assert!(seen.status().is_success());
            assert!(lab.send(cosmos_tests::read()).await.status().is_success());
        }
    }
}

/// An id that holds an encoded slash is not taken for the container before the slash.
#[tokio::test(start_paused = true)]
async fn a_name_with_an_encoded_slash_reads_no_other_container() {
    let (lab, _) = lab_with(multi(), |layers| {
        layers.partition(|layer| layer.enabled(true))
    });
    lab.regions.set_container(LINK, Container::new("rid"));
    let request = read_of("/dbs/d/colls/c%2Fdocs/docs/1", br#"["p"]"#).unwrap();
    let range = lab.send(request).await.journal.unwrap().range();
    assert_eq!(range, None, "{}", lab.regions.container_reads());
}
