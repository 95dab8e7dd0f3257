//! One operation of a block: what it gives, its name, what it reads, attributes, regions, the types of its results.

use super::tree::{Tree, numbers, tree};
use super::types::Type;

/// One operation.
#[derive(Clone, Debug, Default)]
pub(super) struct Statement<'a> {
    /// Names of its results as later operations write them: `%0`, or `%0#0`, `%0#1`.
    pub(super) gives: Vec<String>,
    /// `stablehlo.add`.
    pub(super) op: &'a str,
    /// Values that it reads, in order.
    pub(super) reads: Vec<&'a str>,
    /// The first symbol: whom it calls.
    pub(super) symbol: Option<&'a str>,
    /// The first text: a composite's name.
    pub(super) text: Option<&'a str>,
    /// Types of its results; those of what it reads where the text says no other.
    pub(super) types: Vec<Type>,
    /// Blocks of the regions that it holds.
    pub(super) regions: Vec<Vec<Block<'a>>>,
    /// What stands between name and types.
    pub(super) header: Vec<Tree<'a>>,
    /// Blocks that it jumps to, with what they are given.
    pub(super) jumps: Vec<(&'a str, Vec<&'a str>)>,
    /// Arguments of `while`, with what they begin with: `%iterArg`, `%0`.
    pub(super) carried: Vec<(&'a str, &'a str)>,
}

/// A block: what it is given, and its operations.
#[derive(Clone, Debug, Default)]
pub(super) struct Block<'a> {
    /// `^bb0`; the first one may have none.
    pub(super) label: &'a str,
    pub(super) arguments: Vec<(&'a str, Type)>,
    pub(super) statements: Vec<Statement<'a>>,
}

/// What continues the operation of the line before.
const CONTINUES: [&str; 5] = ["cond", "do", "reducer", "else", "attributes"];

/// The blocks of a region.
pub(super) fn blocks<'a>(region: &[Tree<'a>]) -> Vec<Block<'a>> {
    let mut blocks = vec![Block::default()];
    for line in lines(region) {
        if let [Tree::Block(label), ..] = line[..] {
            let arguments = line.iter().find_map(|tree| tree.group('(')).map_or_else(Vec::new, arguments);
            if blocks.last().is_some_and(|block| block.statements.is_empty() && block.arguments.is_empty()) {
                blocks.pop();
            }
            blocks.push(Block { label, arguments, statements: Vec::new() });
        } else if let Some(block) = blocks.last_mut() {
            block.statements.extend(statement(&line));
        }
    }
    blocks
}

/// `%arg0: tensor<…>, %arg1: …`
pub(super) fn arguments<'a>(inner: &[Tree<'a>]) -> Vec<(&'a str, Type)> {
    let pairs = inner.windows(3).filter_map(|three| match three {
        [Tree::Value(name), Tree::Sign(':'), of] => Some((*name, Type::of(of)?)),
        _ => None,
    });
    pairs.collect()
}

/// Lines that are operations each.
pub(super) fn lines<'t, 'a>(region: &'t [Tree<'a>]) -> Vec<Vec<&'t Tree<'a>>> {
    let mut lines: Vec<Vec<&Tree<'a>>> = vec![Vec::new()];
    let mut from = 0;
    while from < region.len() {
        let long = region[from..].iter().position(|tree| *tree == Tree::Line).unwrap_or(region.len() - from);
        let line: Vec<&Tree<'a>> = region[from..from + long].iter().collect();
        from += long + 1;
        let continues = match line.first() {
            Some(Tree::Word(word)) => CONTINUES.contains(word),
            Some(Tree::Sign(_) | Tree::Arrow | Tree::Group(..)) => true,
            _ => false,
        };
        match lines.last_mut() {
            Some(last) if continues => last.extend(line),
            _ => lines.push(line),
        }
    }
    lines.retain(|line| !line.is_empty());
    lines
}

/// Whether braces hold operations, and no attributes.
fn is_region(inner: &[Tree<'_>]) -> bool {
    let mut first = inner.iter().filter(|tree| **tree != Tree::Line);
    match first.next() {
        Some(Tree::Value(_) | Tree::Block(_)) => true,
        Some(Tree::Text(_)) => matches!(first.next(), Some(Tree::Group('(', _))),
        Some(Tree::Word(word)) => {
            let op = word.contains('.') || matches!(*word, "return" | "call");
            op && !matches!(first.next(), Some(Tree::Sign('=' | ',')) | None)
        }
        _ => false,
    }
}

fn statement<'a>(line: &[&Tree<'a>]) -> Option<Statement<'a>> {
    let mut made = Statement::default();
    let equals = line.iter().position(|tree| tree.is('='));
    let body = match (line.first(), equals) {
        (Some(Tree::Value(_)), Some(at)) => {
            made.gives = results(&line[..at]);
            &line[at + 1..]
        }
        _ => line,
    };
    made.op = match body.first()? {
        Tree::Word(word) | Tree::Text(word) | Tree::Angle(word, _) => word,
        _ => return None,
    };
    let body = &body[1..];
    for tree in body {
        let Tree::Group(kind @ ('{' | '('), inner) = tree else { continue };
        if *kind == '{' && is_region(inner) {
            made.regions.push(blocks(inner));
        } else if *kind == '(' {
            let held = inner.iter().filter_map(|tree| tree.group('{')).filter(|inner| is_region(inner));
            made.regions.extend(held.map(blocks));
        }
    }
    let end = body.iter().position(|tree| tree.word() == Some("loc")).unwrap_or(body.len());
    let colon = body[..end].iter().rposition(|tree| tree.is(':'));
    let (header, types) = body[..end].split_at(colon.unwrap_or(end));
    if made.op.starts_with("cf.") {
        made.jumps = jumps(&body[..end]);
    }
    made.header = header.iter().map(|&tree| tree.clone()).filter(|tree| !holds_region(tree)).collect();
    made.symbol = symbol(&made.header);
    made.text = made.header.iter().find_map(|tree| if let Tree::Text(text) = tree { Some(*text) } else { None });
    if made.op.ends_with(".while") {
        made.carried = made.header.first().and_then(|tree| tree.group('(')).map_or_else(Vec::new, pairs);
        made.reads = made.carried.iter().map(|(_, from)| *from).collect();
    } else {
        values(&made.header, &mut made.reads);
    }
    made.types = results_types(types, made.gives.len());
    Some(made)
}

/// `^bb1(%0, %1 : tensor<…>, tensor<…>)`
fn jumps<'a>(body: &[&Tree<'a>]) -> Vec<(&'a str, Vec<&'a str>)> {
    let mut found = Vec::new();
    for (at, tree) in body.iter().enumerate() {
        let Tree::Block(label) = tree else { continue };
        let mut given = Vec::new();
        if let Some(Tree::Group('(', inner)) = body.get(at + 1) {
            values(inner, &mut given);
        }
        found.push((*label, given));
    }
    found
}

/// A region is read apart, and holds no operands.
fn holds_region(tree: &Tree<'_>) -> bool {
    match tree {
        Tree::Group('{', inner) => is_region(inner),
        Tree::Group('(', inner) => inner.iter().any(holds_region),
        _ => false,
    }
}

fn symbol<'a>(header: &[Tree<'a>]) -> Option<&'a str> {
    header.iter().find_map(|tree| match tree {
        Tree::Symbol(name) => Some(*name),
        Tree::Group('{', inner) => symbol(inner),
        _ => None,
    })
}

/// `%0`, `%0:2`, `%values, %indices`
fn results(left: &[&Tree<'_>]) -> Vec<String> {
    const MOST: usize = 10_000;
    let mut gives = Vec::new();
    for (at, tree) in left.iter().enumerate() {
        let Tree::Value(name) = tree else { continue };
        let many = match left.get(at + 1..at + 3) {
            Some([Tree::Sign(':'), Tree::Word(number)]) => number.parse::<usize>().ok(),
            _ => None,
        };
        match many {
            Some(many) => gives.extend((0..many.min(MOST)).map(|place| format!("{name}#{place}"))),
            None => gives.push((*name).to_owned()),
        }
    }
    gives
}

/// `%iterArg = %0, %iterArg_0 = %c`
fn pairs<'a>(inner: &[Tree<'a>]) -> Vec<(&'a str, &'a str)> {
    let pair = |three: &[Tree<'a>]| match three {
        [Tree::Value(name), Tree::Sign('='), Tree::Value(from)] => Some((*name, *from)),
        _ => None,
    };
    inner.windows(3).filter_map(pair).collect()
}

/// Values in the order in which they stand, also in round brackets and square ones.
fn values<'a>(trees: &[Tree<'a>], found: &mut Vec<&'a str>) {
    for tree in trees {
        match tree {
            Tree::Value(name) => found.push(name),
            Tree::Group('(' | '[', inner) => values(inner, found),
            _ => {}
        }
    }
}

/// Types behind the colon: those behind the arrow, or, without one, one for each result, or the last for the only one.
fn results_types(types: &[&Tree<'_>], gives: usize) -> Vec<Type> {
    let arrow = types.iter().rposition(|tree| **tree == Tree::Arrow);
    let behind = arrow.map_or(types, |at| &types[at + 1..]);
    let listed: Vec<Type> = match behind {
        [Tree::Group('(', inner), ..] => inner.iter().filter_map(Type::of).collect(),
        _ => behind.iter().filter_map(|tree| Type::of(tree)).collect(),
    };
    match listed.len().checked_sub(gives) {
        Some(before) if arrow.is_none() && gives > 0 => listed[before..].to_vec(),
        _ => listed,
    }
}

impl<'a> Statement<'a> {
    /// The value of an attribute, in the header, in braces or in an attribute of its own.
    pub(super) fn attribute(&self, name: &str) -> Option<Tree<'a>> {
        attribute(&self.header, name)
    }

    /// Whole numbers of an attribute; none where it is not there.
    pub(super) fn numbers(&self, name: &str) -> Vec<i64> {
        self.attribute(name).map_or_else(Vec::new, |tree| numbers(&tree))
    }

    /// Two lists: `contracting_dims = [1] x [0]`.
    pub(super) fn two_lists(&self, name: &str) -> Option<[Vec<i64>; 2]> {
        let at = self.header.iter().position(|tree| tree.word() == Some(name))?;
        match self.header.get(at + 1..)? {
            [Tree::Sign('='), left, Tree::Word("x"), right, ..] => Some([numbers(left), numbers(right)]),
            _ => None,
        }
    }

    /// Whole lists of labels, as those of a convolution: `[b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f]`.
    pub(super) fn labels(&self, name: &str) -> Option<Vec<Vec<&'a str>>> {
        let at = self.header.iter().position(|tree| tree.word() == Some(name))?;
        let lists = self.header[at..].iter().filter_map(|tree| tree.group('[')).take(3);
        let words = |list: &[Tree<'a>]| list.iter().filter_map(Tree::word).collect();
        Some(lists.map(words).collect())
    }

    /// The word behind another: `applies stablehlo.add`.
    pub(super) fn word_behind(&self, name: &str) -> Option<&'a str> {
        let at = self.header.iter().position(|tree| tree.word() == Some(name))?;
        self.header.get(at + 1)?.word()
    }

    /// The first word of the header: the kind of a comparison.
    pub(super) fn first_word(&self) -> Option<&'a str> {
        self.header.first()?.word()
    }
}

fn attribute<'a>(trees: &[Tree<'a>], name: &str) -> Option<Tree<'a>> {
    for (at, tree) in trees.iter().enumerate() {
        match tree {
            Tree::Word(word) if *word == name && trees.get(at + 1).is_some_and(|next| next.is('=')) => {
                return trees.get(at + 2).cloned();
            }
            Tree::Group('{', inner) => {
                if let Some(found) = attribute(inner, name) {
                    return Some(found);
                }
            }
            Tree::Angle(kind, inner) if kind.starts_with('#') => {
                if let Ok((inner, _)) = self::tree(inner, "an attribute")
                    && let Some(found) = attribute(&inner, name)
                {
                    return Some(found);
                }
            }
            _ => {}
        }
    }
    None
}
