//! An [`Answer`](crate::Answer) for people and programs: text, Markdown, JSON, HTML.

mod html;
mod plots;
mod sections;
mod text;

pub use html::html;
pub use text::{markdown, text};

use crate::answer::Answer;

/// `breakeven.plan/1`, every digit.
pub fn json(answer: &Answer) -> String {
    let mut text = serde_json::to_string_pretty(answer).unwrap_or_default();
    text.push('\n');
    text
}
