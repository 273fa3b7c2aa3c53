//! What the layers are made of: what one of each costs.

use std::hint::black_box;

use cosmos_core::signing::{MasterKey, http_date};
use cosmos_core::{Route, requests};
use http::Method;
use tower::Layer;

use super::Settings;
use super::healthy::recommended;
use crate::cost::{Cost, Subject, costs};
use crate::documents;
use crate::instant::{InstantLeaf, Req};
use crate::measure::now;
use crate::operation::{account, one_key};
use crate::section::Section;

const TITLE: &str = "Parts that layers use";
const NOTE: &str = "one of each, letting go of it included";

pub(super) fn section(settings: &Settings) -> Section {
    let stack = recommended(&account()).layer(InstantLeaf::new());
    let request = request();
    let mut routed = self::request();
    // The layers see requests that carry an operation.
    let _ = Route::enter(&mut routed, now());
    let key = MasterKey::from_base64(documents::KEY).expect("a good key");
    let date = http_date(std::time::SystemTime::UNIX_EPOCH);
    let path = request.uri().path().to_owned();
    let subjects = vec![
        each("building the request", self::request),
        each("a copy of a request", move || request.clone()),
        each(
            "a copy of a request that carries its operation",
            move || routed.clone(),
        ),
        each("a clone of the whole stack", move || stack.clone()),
        each("a signature", move || key.sign(&Method::GET, &path, &date)),
        each("a look at the clock", now),
    ];
    let costs = costs(settings.rounds, settings.allocator, subjects);
    let mut section = Section::of_costs(TITLE, NOTE, &[], &Cost::default());
    for cost in &costs {
        section.add_cost(cost, None);
    }
    section
}

fn each<'a, T>(name: &str, mut make: impl FnMut() -> T + 'a) -> Subject<'a> {
    Subject::new(name, move |times| {
        for _ in 0..times {
            black_box(make());
        }
    })
}

fn request() -> Req {
    let request = requests::read_item("d", "c", "1", &one_key()).build();
    request.expect("a good request")
}
