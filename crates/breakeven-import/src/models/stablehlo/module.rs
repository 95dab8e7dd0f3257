//! A module: its functions by name.

use super::statement::{Block, arguments, blocks};
use super::tree::Tree;
use super::types::Type;
use std::collections::BTreeMap;

/// A function.
#[derive(Debug, Default)]
pub(super) struct Function<'a> {
    pub(super) arguments: Vec<(&'a str, Type)>,
    pub(super) blocks: Vec<Block<'a>>,
}

/// All that a text holds.
#[derive(Debug, Default)]
pub(super) struct Module<'a> {
    pub(super) name: Option<&'a str>,
    pub(super) functions: BTreeMap<&'a str, Function<'a>>,
    /// The first function that others may call.
    first: Option<&'a str>,
    /// Arrays that belong to the module: weights.
    pub(super) globals: Vec<Type>,
}

impl<'a> Module<'a> {
    pub(super) fn of(trees: &[Tree<'a>]) -> Self {
        let mut module = Self::default();
        module.walk(trees);
        module
    }

    /// The function that is run: `main`, else the first that is not private.
    pub(super) fn entry(&self) -> Option<&'a str> {
        if self.functions.contains_key("main") { Some("main") } else { self.first }
    }

    fn walk(&mut self, trees: &[Tree<'a>]) {
        let mut at = 0;
        while at < trees.len() {
            match &trees[at] {
                Tree::Word("module") => {
                    if let Some(Tree::Symbol(name)) = trees.get(at + 1) {
                        self.name.get_or_insert(name);
                    }
                }
                Tree::Word("func.func" | "func") => at = self.function(trees, at + 1),
                Tree::Text("func.func") => at = self.generic(trees, at + 1),
                Tree::Word(word) if word.ends_with(".global") => at = self.global(trees, at + 1),
                Tree::Group('{' | '(', inner) => self.walk(inner),
                _ => {}
            }
            at += 1;
        }
    }

    /// `func.func public @main(…) -> (…) attributes {…} {…}`; gives the place of its body.
    fn function(&mut self, trees: &[Tree<'a>], from: usize) -> usize {
        let (mut name, mut private, mut given, mut attributes) = (None, false, None, false);
        for (at, tree) in trees.iter().enumerate().skip(from) {
            match tree {
                Tree::Word("private") => private = true,
                Tree::Word("attributes") => attributes = true,
                Tree::Symbol(symbol) if name.is_none() => name = Some(*symbol),
                Tree::Group('(', inner) if given.is_none() => given = Some(arguments(inner)),
                Tree::Group('{', _) if attributes => attributes = false,
                Tree::Group('{', inner) => {
                    self.add(name, private, Function { arguments: given.unwrap_or_default(), blocks: blocks(inner) });
                    return at;
                }
                // A declaration has no body.
                Tree::Line if given.is_some() => return at,
                _ => {}
            }
        }
        trees.len()
    }

    /// `"func.func"() <{sym_name = "main", …}> ({^bb0(…): …})`
    fn generic(&mut self, trees: &[Tree<'a>], from: usize) -> usize {
        let end = trees.iter().skip(from).position(|tree| *tree == Tree::Line).map_or(trees.len(), |long| from + long);
        let all = &trees[from..end];
        let properties = all.iter().find_map(|tree| tree.group('{')).unwrap_or_default();
        let behind = |word: &str| {
            let at = properties.iter().position(|tree| tree.word() == Some(word))?;
            if let Some(Tree::Text(text)) = properties.get(at + 2) { Some(*text) } else { None }
        };
        let regions = all.iter().filter_map(|tree| tree.group('(')).flatten();
        if let Some(body) = regions.filter_map(|tree| tree.group('{')).next() {
            let mut blocks = blocks(body);
            let given = blocks.first_mut().map(|first| std::mem::take(&mut first.arguments)).unwrap_or_default();
            let private = behind("sym_visibility") == Some("private");
            self.add(behind("sym_name"), private, Function { arguments: given, blocks });
        }
        end
    }

    fn add(&mut self, name: Option<&'a str>, private: bool, function: Function<'a>) {
        let name = name.unwrap_or("main");
        if !private {
            self.first.get_or_insert(name);
        }
        self.functions.insert(name, function);
    }

    /// `util.global private @name = … : tensor<…>`
    fn global(&mut self, trees: &[Tree<'a>], from: usize) -> usize {
        let end = trees.iter().skip(from).position(|tree| *tree == Tree::Line).map_or(trees.len(), |long| from + long);
        self.globals.extend(trees[from..end].iter().rev().find_map(Type::of));
        end
    }
}
