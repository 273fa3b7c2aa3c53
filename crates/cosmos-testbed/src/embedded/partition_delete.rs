//! Delete by partition key: done item by item, as the emulator has no such operation.

use azure_core::http::Url;
use bytes::Bytes;
use http::{Method, StatusCode};
use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};
use serde_json::{Value, json};

use super::engine::Ask;
use super::perform;
use super::reply::{self, Reply};
use super::request::Received;
use super::state::State;

/// Deletes every item of the request's logical partition at the writer under `url`.
///
/// The service answers at once and deletes in the background; here the items are gone with the
/// answer, so that a test need not wait for them.
pub(crate) async fn perform(state: &State, url: &Url, request: &Received) -> Reply {
    let (Some(container), Some(page)) = (
        perform::container_path(request),
        perform::partition_headers(request, "100"),
    ) else {
        let message = "A delete by partition key needs a partition key.";
        return reply::failure(StatusCode::BAD_REQUEST, None, None, message);
    };
    loop {
        let feed = Ask {
            method: Method::GET,
            path_and_query: format!("{container}/docs"),
            headers: page.clone(),
            body: Bytes::new(),
        };
        let feed = state.engine.answer(url, feed).await;
        if !feed.status.is_success() {
            return feed.into_reply();
        }
        let feed: Value = serde_json::from_slice(&feed.body).unwrap_or_default();
        let items = feed["Documents"].as_array().cloned().unwrap_or_default();
        if items.is_empty() {
            return reply::json(StatusCode::OK, &json!({}));
        }
        for item in items {
            let id = item["id"].as_str().unwrap_or_default();
            let delete = Ask {
                method: Method::DELETE,
                path_and_query: format!(
                    "{container}/docs/{}",
                    utf8_percent_encode(id, NON_ALPHANUMERIC)
                ),
                headers: page.clone(),
                body: Bytes::new(),
            };
            let deleted = state.engine.answer(url, delete).await;
            // Somebody else may have deleted it in between.
            if !deleted.status.is_success() && deleted.status != StatusCode::NOT_FOUND {
                return deleted.into_reply();
            }
        }
    }
}
