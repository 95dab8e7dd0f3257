//! An [`Answer`](crate::Answer) for people and programs; rounding lives here.
