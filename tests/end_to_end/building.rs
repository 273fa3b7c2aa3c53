//! What a client cannot be made of is a typed error, and a doubtful name a warning.

use cosmos_client::{ClientError, CosmosClient, Leaf, Protocol};
use cosmos_core::connection_string::Part;
use cosmos_core::signing::{KeyError, MasterKey};
use cosmos_core::{ConnectionStringError, EndpointError, OperationOptions, RegionError};
use cosmos_testbed::embedded::WriteMode;
use cosmos_tests::{KEY, ms};
use tower_cosmos::{AccountError, KeyCredential};

use crate::harness::{A, World, all_succeeded, leaf, mixed, read, regions};
use crate::secrets::Captured;

fn credential() -> KeyCredential {
    KeyCredential::new(MasterKey::from_base64(KEY).unwrap())
}

fn account_error(result: Result<CosmosClient, ClientError>) -> AccountError {
    match result {
        Err(ClientError::Account(error)) => error,
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_key_that_is_not_base64_is_refused() {
    for (text, error) in [
        ("", KeyError::Empty),
        ("not base64!", KeyError::NotBase64),
        ("c2VjcmV", KeyError::NotBase64),
        ("c2Vj_mV0", KeyError::NotBase64),
    ] {
        assert_eq!(MasterKey::from_base64(text).unwrap_err(), error, "{text:?}");
    }
}

#[test]
fn an_endpoint_without_a_host_or_of_another_scheme_is_refused() {
    for (endpoint, expected) in [
        ("", "NotAUrl NoHost"),
        ("/", "NotAUrl NoHost Scheme"),
        ("not a url", "NotAUrl"),
        ("acct.documents.azure.com", "NotAUrl Scheme NoHost"),
        ("https://", "NotAUrl NoHost"),
        ("https://:443/", "NotAUrl NoHost"),
        ("ftp://acct.documents.azure.com/", "Scheme"),
        ("ws://acct.documents.azure.com/", "Scheme"),
        ("https://user:pass@acct.documents.azure.com/", "UserInfo"),
        ("https://acct.documents.azure.com:99999/", "NotAUrl"),
    ] {
        let error = account_error(CosmosClient::builder(endpoint, credential()).build());
        let AccountError::Endpoint(error) = error else {
            panic!("{endpoint:?}: {error:?}");
        };
        let name = match error {
            EndpointError::NotAUrl => "NotAUrl",
            EndpointError::Scheme => "Scheme",
            EndpointError::NoHost => "NoHost",
            EndpointError::UserInfo => "UserInfo",
            _ => "other",
        };
        assert!(expected.contains(name), "{endpoint:?}: {error:?}");
        let fallback = CosmosClient::builder("https://acct.documents.azure.com/", credential())
            .fallback_endpoints([endpoint])
            .build();
        assert!(
            matches!(account_error(fallback), AccountError::Endpoint(_)),
            "{endpoint:?}"
        );
    }
}

#[test]
fn a_blank_or_endless_region_name_is_refused() {
    let builder = || CosmosClient::builder("https://acct.documents.azure.com/", credential());
    let long = "x".repeat(10_000);
    for (name, expected) in [
        ("", RegionError::Blank),
        ("  ", RegionError::Blank),
        (" -_ ", RegionError::Blank),
        (long.as_str(), RegionError::TooLong),
    ] {
        for built in [
            builder().preferred_regions([A, name]).build(),
            builder().excluded_regions([name]).build(),
        ] {
            let error = account_error(built);
            assert!(
                matches!(&error, AccountError::Region(e) if *e == expected),
                "{error:?}"
            );
        }
        assert_eq!(
            OperationOptions::new().exclude_regions([name]).unwrap_err(),
            expected
        );
    }
}

#[test]
fn settings_out_of_range_are_refused() {
    let builder = || CosmosClient::builder("https://acct.documents.azure.com/", credential());
    for built in [
        builder()
            .account(|account| account.refresh_interval(ms(0)))
            .build(),
        builder()
            .account(|account| account.background_period(ms(0)))
            .build(),
        builder()
            .account(|account| account.read_timeout(ms(0)))
            .build(),
    ] {
        assert!(matches!(account_error(built), AccountError::Setting(_)));
    }
    for leaf in [
        Leaf::builder().connect_limit(ms(0)),
        Leaf::builder().shards(3, 2),
        Leaf::builder().streams(0),
    ] {
        let built = builder().leaf(leaf).build();
        assert!(matches!(built, Err(ClientError::Setting(_))), "{built:?}");
    }
}

#[test]
fn a_connection_string_that_is_none_is_refused_and_not_repeated() {
    let e = "AccountEndpoint=https://acct.documents.azure.com/";
    let k = "AccountKey=c2VjcmV0";
    for (text, expected) in [
        (
            String::new(),
            ConnectionStringError::Missing(Part::Endpoint),
        ),
        (k.to_owned(), ConnectionStringError::Missing(Part::Endpoint)),
        (e.to_owned(), ConnectionStringError::Missing(Part::Key)),
        (
            format!("{e};{k};{k}"),
            ConnectionStringError::Duplicate(Part::Key),
        ),
        (
            format!("{e};{e};{k}"),
            ConnectionStringError::Duplicate(Part::Endpoint),
        ),
        (
            format!("AccountEndpoint=nowhere;{k}"),
            ConnectionStringError::Endpoint,
        ),
        (
            format!("AccountEndpoint=ftp://x/;{k}"),
            ConnectionStringError::Endpoint,
        ),
        (
            format!("AccountEndpoint=;{k}"),
            ConnectionStringError::Endpoint,
        ),
        (
            format!("{e};AccountKey="),
            ConnectionStringError::Key(KeyError::Empty),
        ),
        (
            format!("{e};AccountKey=c2VjcmV"),
            ConnectionStringError::Key(KeyError::NotBase64),
        ),
    ] {
        let error = CosmosClient::from_connection_string(&text).unwrap_err();
        assert_eq!(error, expected, "{text:?}");
        assert!(!format!("{error:?} {error}").contains("c2Vj"));
    }
}

#[tokio::test]
async fn a_connection_string_in_any_dress_makes_a_client_that_works() {
    let world = World::start(WriteMode::Single).await;
    let (endpoint, key) = (world.account.endpoint(), world.account.key());
    let bare = endpoint.trim_end_matches('/');
    for text in [
        world.account.connection_string(),
        format!("AccountEndpoint={endpoint};AccountKey={key}"),
        format!("accountkey={key};ACCOUNTENDPOINT={bare}"),
        format!(" AccountEndpoint = {bare} ; AccountKey = {key} ;; Database=shop;"),
    ] {
        let client = CosmosClient::from_connection_string(&text)
            .unwrap()
            .leaf(leaf(Protocol::Http2))
            .build()
            .unwrap();
        all_succeeded(&text, &world.send_all(&client, mixed(2)).await);
    }
    world.check();
}

#[tokio::test]
async fn a_region_that_the_account_does_not_have_is_warned_of_and_passed_over() {
    let captured = Captured::at(tracing::level_filters::LevelFilter::WARN);
    let world = World::start(WriteMode::Single).await;
    let client = world
        .builder(Protocol::Http2)
        .preferred_regions(["West Atlantis", "Japan East", A])
        .build()
        .unwrap();
    let seen = world.send(&client, read()).await;
    assert_eq!((seen.status().code(), regions(&seen)), (200, vec![A]));
    world.check();
    let text = captured.text().to_lowercase().replace([' ', '-', '_'], "");
    assert!(text.contains("westatlantis"), "a typing error: {text}");
    assert!(text.contains("japaneast"), "a region of others: {text}");
    assert!(!text.contains("eastus"), "{text}");
}
