//! The scripted account: regions that do exactly what a test says, on paused time, with a log of
//! what arrived where and when.
//!
//! [`ScriptedAccount`] is a plain Tower service to put below a stack. Each region follows its
//! script, step by step, and answers 200 (201 for creates) when the script has ended. The account
//! document is served on every host and kept out of the data log; so are the properties and
//! partition key ranges of containers that the account knows ([`ScriptedAccount::set_container`]).
//!
//! ```
//! use cosmos_testbed::scripted::{Document, ScriptedAccount, Step};
//!
//! let account = ScriptedAccount::new(Document::single_write(["A", "B"]));
//! account.script("A", [Step::status(503, 0), Step::status(429, 3200).hint("20")]);
//! // ... send a read through a stack around `account.clone()` ...
//! println!("{}", account.wire());
//! ```

mod body;
mod container;
pub(crate) mod document;
mod service;
mod step;
mod wire;

pub use body::ScriptedBody;
pub use container::Container;
pub use document::Document;
pub use service::{Purpose, ScriptedAccount};
pub use step::Step;
pub use wire::{Wire, WireEntry};
