//! What an object on a value stack is, as far as its memory tells: whose compiled code runs when it is called or worked on.
//!
//! Layouts are those of CPython 3.10 to 3.13 (`cpython/object.h`, `descrobject.h`, `methodobject.h`, `classobject.h`).

use super::peek::{Text, int, read, word, words};

/// `PyTypeObject`, in words.
const TP_NAME: usize = 3;
const TP_BASICSIZE: usize = 4;
const TP_DEALLOC: usize = 6;
const TP_VECTORCALL_OFFSET: usize = 7;
const TP_CALL: usize = 16;
const TP_FLAGS: usize = 21;
const TP_ITERNEXT: usize = 28;
const TP_METHODS: usize = 29;
const TP_GETSET: usize = 31;
const TP_INIT: usize = 37;
const TP_NEW: usize = 39;
const TYPE_WORDS: usize = 40;

/// `Py_TPFLAGS_HAVE_VECTORCALL`.
const HAVE_VECTORCALL: usize = 1 << 11;
/// What Python has to run other functions, or to go through other iterators.
const HOLDERS: [&str; 10] = [
    "map",
    "filter",
    "zip",
    "enumerate",
    "reversed",
    "tuple",
    "functools.partial",
    "functools._lru_cache_wrapper",
    "callable_iterator",
    "numpy.ufunc",
];
/// Words of an object before its own, and of its own that are looked at.
const HEAD: usize = 2;
const PARTS: usize = 12;

/// An object, described.
#[derive(Clone, Copy)]
pub(super) struct Object {
    /// Its address; nothing else of it may be asked for later.
    pub(super) address: usize,
    /// What runs when it is called: code of the module that defines it. 0 for what Python runs itself.
    pub(super) call: usize,
    /// The function that it stands for, where it is one of `ctypes`.
    pub(super) target: usize,
    /// Code and tables of its type: the module that defines the type has at least one of them.
    pub(super) origin: [usize; 5],
    /// `solve`, of a method or a function.
    pub(super) name: Text,
    /// `SuperLU`, the type.
    pub(super) class: Text,
    /// What it was found in, one more than that one's place on the stack; 0 where it lies there itself.
    pub(super) within: u8,
}

impl Object {
    pub(super) const fn new() -> Self {
        Self { address: 0, call: 0, target: 0, origin: [0; 5], name: Text::new(), class: Text::new(), within: 0 }
    }

    /// Describes what lies at `address`, which need not be an object.
    pub(super) fn at(address: usize) -> Self {
        let nothing = Self { address, ..Self::new() };
        if address == 0 || !address.is_multiple_of(align_of::<usize>()) {
            return nothing;
        }
        Self::described(address, true).unwrap_or(nothing)
    }

    /// Whether it may run other objects, which lie within it.
    pub(super) fn holds_others(&self) -> bool {
        let class = self.class.as_str();
        HOLDERS.contains(&class) || class.starts_with("itertools.")
    }

    /// What lies within it, of whatever kind.
    pub(super) fn parts(&self) -> impl Iterator<Item = usize> {
        let size = words::<2>(self.address).and_then(|[_, of]| words::<2>(of + TP_BASICSIZE * size_of::<usize>()));
        let mut parts = [0; PARTS];
        let there = read(self.address + HEAD * size_of::<usize>(), &mut parts);
        let own = size.map_or(0, |[own, item]| {
            // What a tuple holds comes after its length.
            let items = if item > 0 { parts[0] } else { 0 };
            (own / size_of::<usize>()).saturating_sub(HEAD).saturating_add(items)
        });
        parts.into_iter().take(own.min(there))
    }

    /// Whether it is a function, a class or an iterator that is not written in Python.
    pub(super) fn may_run(&self) -> bool {
        self.call != 0 || self.class.as_str() == "type" || self.origin[1] != 0
    }

    fn described(address: usize, may_be_bound: bool) -> Option<Self> {
        let [_, of] = words::<2>(address)?;
        let slots = type_at(of)?;
        let class = Text::at(slots[TP_NAME])?;
        let plain = Self { address, class, ..Self::new() };
        let method = |definition: usize, class: Text| {
            let [name, function] = words::<2>(definition)?;
            Some(Self { call: function, name: Text::at(name)?, class, ..plain })
        };
        match class.as_str() {
            "function" => Some(plain),
            "builtin_function_or_method" | "builtin_method" => {
                let [definition, of] = words::<2>(address + 16)?;
                method(definition, class_of(of).unwrap_or(Text::new()))
            }
            cython if cython.contains("cython_function") => method(word(address + 16)?, Text::new()),
            "method_descriptor" | "classmethod_descriptor" => {
                method(word(address + 40)?, Text::at(type_at(word(address + 16)?)?[TP_NAME])?)
            }
            "wrapper_descriptor" => {
                let name = Text::at(word(word(address + 40)?)?)?;
                let class = Text::at(type_at(word(address + 16)?)?[TP_NAME])?;
                Some(Self { call: word(address + 48)?, name, class, ..plain })
            }
            // `super().__call__`.
            "method-wrapper" if may_be_bound => Self::described(word(address + 16)?, false),
            // A loop of it for one element type; the name. NumPy's own, SciPy's, or compiled at run time.
            "numpy.ufunc" => {
                let [loops, name] = [word(address + 32)?, word(address + 56)?];
                let name = Text::at(name).unwrap_or(Text::new());
                Some(Self { call: word(loops)?, name, ..plain })
            }
            "method" if may_be_bound => Self::described(word(address + 16)?, false),
            "type" => {
                let own = type_at(address)?;
                let origin = [own[TP_NEW], own[TP_INIT], own[TP_DEALLOC], own[TP_METHODS], own[TP_GETSET]];
                Some(Self { origin, name: Text::at(own[TP_NAME])?, ..plain })
            }
            _ => {
                let origin = [TP_DEALLOC, TP_ITERNEXT, TP_METHODS, TP_GETSET, TP_NEW].map(|slot| slots[slot]);
                let target = word(address + 16).and_then(word).unwrap_or(0);
                let vector =
                    (slots[TP_FLAGS] & HAVE_VECTORCALL != 0).then(|| word(address + slots[TP_VECTORCALL_OFFSET]));
                let call = vector.flatten().filter(|&call| call != 0).unwrap_or(slots[TP_CALL]);
                Some(Self { call, target, origin, ..plain })
            }
        }
    }
}

/// The class that a function which is bound to the object at `address` is a method of; none where that is a module.
fn class_of(address: usize) -> Option<Text> {
    let [_, of] = words::<2>(address)?;
    Text::at(type_at(of)?[TP_NAME]).filter(|class| class.as_str() != "module")
}

/// The words of the type at `address`; `None` for what is none: `Py_TPFLAGS_READY` is set in each that is in use.
fn type_at(address: usize) -> Option<[usize; TYPE_WORDS]> {
    const READY: usize = 1 << 12;
    let aligned = address != 0 && address.is_multiple_of(align_of::<usize>());
    // Most words that are no object end here, at the cost of one look.
    if !aligned || int(address + TP_FLAGS * size_of::<usize>())? as usize & READY == 0 {
        return None;
    }
    words(address)
}
