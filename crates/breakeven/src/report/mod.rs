//! An [`Estimate`](crate::estimate::Estimate) for people and programs: text, Markdown, JSON, HTML.
//!
//! Rounding and number words live here alone, so that the command and the page print the same digits. Nothing here
//! estimates anything: a report shows what an estimate holds and never asks a model.

pub mod words;

mod brief;
mod columns;
mod explain;
mod help;
mod html;
mod json;
mod markdown;
mod notes;
mod remarks;
mod rows;
mod sentence;
mod several;
mod table;
mod terminal;
mod text;
mod whole;
mod why;
mod wrap;

pub use explain::FORMULA;
pub use html::{escape, html};
pub use json::json;
pub use markdown::markdown;
use sentence::first_fix;
pub use sentence::{held_back, sentence};
pub use table::{Align, Table};
pub use text::{TextOptions, text};
pub use wrap::hanging;

#[cfg(test)]
mod examples;
