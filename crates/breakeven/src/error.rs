//! One error type for everything a user can get wrong.

use std::fmt;

/// Bad input: what was given, what is allowed (`message`), and the next step (`hint`).
///
/// Models cannot fail; errors arise only where text is read. `code` is stable and documented, `message` is a
/// lowercase sentence that reads after "error: ".
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Error {
    /// A stable name in kebab case, such as `unknown-gpu`.
    pub code: &'static str,
    /// What was given and what is allowed.
    pub message: String,
    /// What to try next.
    pub hint: Option<String>,
    /// The input it is about, by its key in the request: `flops`.
    pub field: Option<&'static str>,
}

impl Error {
    /// An error without a hint.
    pub fn new(code: &'static str, message: impl Into<String>) -> Self {
        Self { code, message: message.into(), hint: None, field: None }
    }

    /// The same error with a next step.
    #[must_use]
    pub fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }

    /// The same error, said of one input.
    #[must_use]
    pub fn field(mut self, field: &'static str) -> Self {
        self.field = Some(field);
        self
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "error: {}", self.message)?;
        if let Some(hint) = &self.hint {
            write!(f, "\n hint: {hint}")?;
        }
        Ok(())
    }
}

impl std::error::Error for Error {}

/// A result whose error a user can act on.
pub type Result<T> = std::result::Result<T, Error>;
