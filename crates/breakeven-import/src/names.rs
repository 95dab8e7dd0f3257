//! Names, each kept once.

use std::collections::HashMap;

/// A name, by its place among those kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Name(pub(crate) u32);

impl Name {
    /// No name of any file.
    pub(crate) const NONE: Self = Self(u32::MAX);

    /// The name at a place.
    pub(crate) fn at(place: usize) -> Self {
        Self(u32::try_from(place).unwrap_or(u32::MAX))
    }
}

/// Names, each kept once; beyond a million they are one.
#[derive(Clone, Debug, Default)]
pub struct Names {
    by_text: HashMap<Box<[u8]>, Name>,
    texts: Vec<Box<[u8]>>,
}

/// Files that give each event a name of its own would fill the memory.
const MOST: usize = 1 << 20;
/// Longer names are cut, bytes.
const LONGEST: usize = 4096;

impl Names {
    /// The place of a name, as the file writes it between its quotes.
    pub(crate) fn name(&mut self, text: &[u8]) -> Name {
        let text = &text[..text.len().min(LONGEST)];
        if let Some(known) = self.by_text.get(text) {
            return *known;
        }
        if self.texts.len() >= MOST {
            return self.keep(b"(other names)");
        }
        self.keep(text)
    }

    fn keep(&mut self, text: &[u8]) -> Name {
        if let Some(known) = self.by_text.get(text) {
            return *known;
        }
        let name = Name::at(self.texts.len());
        self.by_text.insert(text.into(), name);
        self.texts.push(text.into());
        name
    }

    /// How many there are.
    pub(crate) fn len(&self) -> usize {
        self.texts.len()
    }

    /// The bytes of a name, as the file writes it.
    pub(crate) fn bytes(&self, name: Name) -> &[u8] {
        self.texts.get(name.0 as usize).map_or(b"", |text| text)
    }

    /// A name as text: escapes undone, what is not UTF-8 replaced.
    pub fn text(&self, name: Name) -> String {
        crate::json::text(self.bytes(name))
    }
}
