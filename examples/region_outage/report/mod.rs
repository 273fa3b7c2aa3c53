//! The report: one page that needs nothing else, with plots drawn as SVG.

mod page;
mod plots;

use std::io;
use std::path::Path;

use crate::results::Results;

/// Writes the report, and the folder that it is in.
pub(crate) fn write(results: &Results, path: &Path) -> io::Result<()> {
    cosmos_examples::page::write(path, &page::page(results))
}
