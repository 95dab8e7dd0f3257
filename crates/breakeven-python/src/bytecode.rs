//! How a function's value stack looks at each of its instructions: where the callee of a call lies, and the operands of an
//! instruction that may run compiled code of theirs.
//!
//! The depth of the stack at an instruction is the same on every way to it, so one walk over the bytecode finds it. What an
//! instruction does to the depth is asked of the interpreter; how it calls and jumps differs from version to version.

/// Bytes of an instruction, or of an entry of its cache.
pub(crate) const UNIT: usize = 2;

/// What the value stack holds at an instruction that matters to a sampler. Slots are counted from the bottom of the stack.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Stack {
    /// Nothing of interest, or the depth is not known.
    #[default]
    Nothing,
    /// A call: the callee is the first of the two slots from here on that is not empty; so many slots lie above the first.
    Call(u16, u8),
    /// An instruction such as `a + b` or `a[i]`: its operands are so many slots from here on.
    Operands(u16, u8),
}

/// The version of CPython that this was compiled for.
const MINOR: u8 = if cfg!(Py_3_13) {
    13
} else if cfg!(Py_3_12) {
    12
} else if cfg!(Py_3_11) {
    11
} else {
    10
};

/// Opcodes of one version, from its `opcode.py`.
struct Opcodes {
    extended: u8,
    /// A call, and how many slots below its arguments the first of the callee's two lies.
    calls: &'static [(u8, usize)],
    /// `f(*args, **kwargs)`.
    call_ex: u8,
    /// An instruction before a call with the same argument, at which the stack is as at the call.
    before_call: Option<u8>,
    /// Jumps forward and backward by a number of instructions, and to one.
    forward: &'static [u8],
    backward: &'static [u8],
    to: &'static [u8],
    /// What follows is not run next.
    leaves: &'static [u8],
    /// Instructions with operands that may be another library's, and how many of them.
    operands: &'static [(u8, u8)],
}

const OPCODES: Opcodes = match MINOR {
    10 => Opcodes {
        extended: 144,
        calls: &[(131, 1), (141, 2), (161, 2)],
        call_ex: 142,
        before_call: None,
        forward: &[93, 110, 122, 143, 154],
        backward: &[],
        to: &[111, 112, 113, 114, 115, 121],
        leaves: &[83, 110, 113, 119, 130],
        // BINARY_* and INPLACE_*, UNARY_*, *_SUBSCR, COMPARE_OP, CONTAINS_OP, GET_ITER, FOR_ITER, LOAD_ATTR, STORE_ATTR.
        operands: &[
            (1, 1),
            (10, 1),
            (11, 1),
            (12, 1),
            (15, 1),
            (16, 2),
            (17, 2),
            (19, 2),
            (20, 2),
            (22, 2),
            (23, 2),
            (24, 2),
            (25, 2),
            (26, 2),
            (27, 2),
            (28, 2),
            (29, 2),
            (55, 2),
            (56, 2),
            (57, 2),
            (59, 2),
            (60, 3),
            (61, 2),
            (62, 2),
            (63, 2),
            (64, 2),
            (65, 2),
            (66, 2),
            (67, 2),
            (68, 1),
            (75, 2),
            (76, 2),
            (77, 2),
            (78, 2),
            (79, 2),
            (92, 1),
            (93, 1),
            (95, 2),
            (106, 1),
            (107, 2),
            (118, 2),
            (143, 1),
            (155, 1),
            (160, 1),
            (162, 1),
        ],
    },
    11 => Opcodes {
        extended: 144,
        calls: &[(171, 2)],
        call_ex: 142,
        before_call: Some(166),
        forward: &[93, 110, 111, 112, 114, 115, 123, 128, 129],
        backward: &[134, 140, 173, 174, 175, 176],
        to: &[],
        leaves: &[83, 110, 119, 130, 134, 140],
        // UNARY_*, BINARY_SUBSCR, GET_ITER, STORE_SUBSCR, DELETE_SUBSCR, BEFORE_WITH, FOR_ITER, UNPACK_SEQUENCE,
        // STORE_ATTR, LOAD_ATTR, COMPARE_OP, CONTAINS_OP, BINARY_OP, FORMAT_VALUE, LOAD_METHOD, LIST_EXTEND.
        operands: &[
            (10, 1),
            (11, 1),
            (12, 1),
            (15, 1),
            (25, 2),
            (53, 1),
            (60, 3),
            (61, 2),
            (68, 1),
            (92, 1),
            (93, 1),
            (95, 2),
            (106, 1),
            (107, 2),
            (118, 2),
            (122, 2),
            (155, 1),
            (160, 1),
            (162, 1),
        ],
    },
    12 => Opcodes {
        extended: 144,
        calls: &[(171, 2)],
        call_ex: 142,
        before_call: None,
        forward: &[93, 110, 114, 115, 123, 128, 129],
        backward: &[134, 140],
        to: &[],
        leaves: &[3, 83, 110, 119, 121, 130, 134, 140],
        // As in 3.11, with BINARY_SLICE and STORE_SLICE.
        operands: &[
            (11, 1),
            (12, 1),
            (15, 1),
            (25, 2),
            (26, 3),
            (27, 4),
            (53, 1),
            (60, 3),
            (61, 2),
            (68, 1),
            (92, 1),
            (93, 1),
            (95, 2),
            (106, 1),
            (107, 2),
            (118, 2),
            (122, 2),
            (155, 1),
            (162, 1),
        ],
    },
    _ => Opcodes {
        extended: 71,
        calls: &[(53, 2), (57, 3)],
        call_ex: 54,
        before_call: None,
        forward: &[72, 79, 97, 98, 99, 100, 104],
        backward: &[77, 78],
        to: &[],
        leaves: &[22, 36, 77, 78, 79, 101, 102, 103],
        // BINARY_SLICE, BINARY_SUBSCR, DELETE_SUBSCR, FORMAT_SIMPLE, GET_ITER, STORE_SLICE, STORE_SUBSCR, TO_BOOL,
        // UNARY_*, BINARY_OP, COMPARE_OP, CONTAINS_OP, FOR_ITER, LIST_EXTEND, LOAD_ATTR, STORE_ATTR,
        // UNPACK_SEQUENCE.
        operands: &[
            (2, 1),
            (4, 3),
            (5, 2),
            (9, 2),
            (14, 1),
            (19, 1),
            (38, 4),
            (39, 3),
            (40, 1),
            (41, 1),
            (42, 1),
            (45, 2),
            (58, 2),
            (59, 2),
            (72, 1),
            (81, 1),
            (82, 1),
            (108, 2),
            (117, 1),
        ],
    },
};

/// What the stack holds at each unit of `code`, a function's bytecode as its `co_code` has it; `handlers` is its
/// `co_exceptiontable` (none before 3.11), `generator` whether it is a generator or coroutine. `effect` says by how much an
/// instruction (opcode, argument, whether it jumps) changes the depth.
///
/// Where two ways to an instruction disagree about the depth nothing is known of the function: all is [`Stack::Nothing`].
pub(crate) fn stacks(
    code: &[u8],
    handlers: &[u8],
    generator: bool,
    effect: impl Fn(u8, u32, bool) -> Option<i32>,
) -> Vec<Stack> {
    let units = code.len() / UNIT;
    depths(code, handlers, generator, effect).map_or_else(|| vec![Stack::Nothing; units], |depths| look(code, &depths))
}

/// Instructions of `code`, and what extends their arguments: the unit of the opcode, the opcode, its argument so far, the unit
/// after it and its cache.
fn instructions(code: &[u8]) -> Vec<(usize, u8, u32, usize)> {
    let (mut all, mut unit, mut extended) = (Vec::new(), 0, 0_u32);
    let at = |unit: usize| code.get(unit * UNIT).zip(code.get(unit * UNIT + 1)).map(|(&op, &arg)| (op, arg));
    while let Some((op, arg)) = at(unit) {
        let argument = extended << 8 | u32::from(arg);
        extended = if op == OPCODES.extended { argument } else { 0 };
        let mut next = unit + 1;
        while MINOR >= 11 && at(next).is_some_and(|(op, _)| op == 0) {
            next += 1;
        }
        all.push((unit, op, argument, next));
        unit = next;
    }
    all
}

/// The depth before each unit that an instruction begins at, where it can be reached.
fn depths(
    code: &[u8],
    handlers: &[u8],
    generator: bool,
    effect: impl Fn(u8, u32, bool) -> Option<i32>,
) -> Option<Vec<Option<i32>>> {
    let instructions = instructions(code);
    let mut index = vec![usize::MAX; code.len() / UNIT + 1];
    instructions.iter().enumerate().for_each(|(i, &(unit, ..))| index[unit] = i);
    let mut depths: Vec<Option<i32>> = vec![None; code.len() / UNIT + 1];
    let mut open = vec![(0, i32::from(generator && MINOR < 13))];
    open.extend(entries(handlers));
    while let Some((unit, depth)) = open.pop() {
        let found = depths.get_mut(unit)?;
        if let Some(before) = *found {
            if before != depth {
                return None;
            }
            continue;
        }
        let Some(&(_, op, argument, next)) = instructions.get(*index.get(unit)?) else { continue };
        *found = Some(depth);
        if op == OPCODES.extended {
            open.push((next, depth));
            continue;
        }
        let after = |jumps: bool| effect(op, argument, jumps).map(|by| depth + by);
        let far = argument as usize;
        let target = if OPCODES.forward.contains(&op) {
            Some(next + far)
        } else if OPCODES.backward.contains(&op) {
            Some(next.checked_sub(far)?)
        } else if OPCODES.to.contains(&op) {
            Some(far)
        } else {
            None
        };
        if let Some(target) = target {
            open.push((target, after(true)?));
        }
        if !OPCODES.leaves.contains(&op) {
            open.push((next, after(false)?));
        }
    }
    Some(depths)
}

/// Where handlers of exceptions begin and how deep the stack is there: `Objects/exception_handling_notes.txt`.
fn entries(table: &[u8]) -> Vec<(usize, i32)> {
    let mut bytes = table.iter().copied().peekable();
    let mut found = Vec::new();
    let mut number = || {
        let first = bytes.next()?;
        let (mut value, mut more) = (usize::from(first & 63), first & 64 != 0);
        while more {
            let byte = bytes.next()?;
            (value, more) = (value << 6 | usize::from(byte & 63), byte & 64 != 0);
        }
        Some(value)
    };
    while let (Some(_), Some(_), Some(target), Some(depth)) = (number(), number(), number(), number()) {
        // The exception lies on top of what was there, and the instruction's offset below it where that is asked for.
        found.push((target, (depth >> 1) as i32 + (depth & 1) as i32 + 1));
    }
    found
}

/// What the stack holds at each unit, where its depth is known.
fn look(code: &[u8], depths: &[Option<i32>]) -> Vec<Stack> {
    let mut all = vec![Stack::Nothing; code.len() / UNIT];
    let (mut before_call, mut begins) = (None, None);
    for (unit, op, argument, next) in instructions(code) {
        // In 3.10 a frame stays where the instruction's argument begins.
        let begin = begins.take().unwrap_or(unit);
        if op == OPCODES.extended {
            begins = Some(begin);
            continue;
        }
        let Some(depth) = depths[unit] else { continue };
        let slot = |depth: i32, below: usize| usize::try_from(depth).ok()?.checked_sub(below)?.try_into().ok();
        let of = |table: &[(u8, usize)], op| table.iter().find(|(other, _)| *other == op).map(|&(_, n)| n);
        let call = |depth: i32, below: usize| {
            Some(Stack::Call(slot(depth, below)?, u8::try_from(below - 1).unwrap_or(u8::MAX)))
        };
        let begins_call = Some(op) == OPCODES.before_call;
        let found = if op == OPCODES.call_ex {
            call(depth, if MINOR == 13 { 3 } else { 2 } + (argument as usize & 1))
        } else if let Some(below) = of(OPCODES.calls, if begins_call { OPCODES.calls[0].0 } else { op }) {
            // The interpreter says that the first of two instructions takes the arguments away.
            let depth = before_call.take().unwrap_or(depth);
            before_call = begins_call.then_some(depth);
            call(depth, below + argument as usize)
        } else {
            let operands = OPCODES.operands.iter().find(|(of, _)| *of == op);
            operands.and_then(|&(_, count)| Some(Stack::Operands(slot(depth, count.into())?, count)))
        };
        all[begin..next].fill(found.unwrap_or_default());
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn handlers_of_exceptions_are_read() {
        // From 4 on, 2 long, handled at 70 with a stack of 3 and the offset; a number of two bytes is 1 << 6 | 6.
        assert_eq!(entries(&[0x80 | 4, 2, 0x41, 6, 7]), [(70, 5)]);
        assert_eq!(entries(&[0x80 | 4, 2, 0x41]), []);
    }

    #[test]
    fn what_extends_an_argument_is_at_the_call() {
        // Five instructions that push, then a call with keywords, whose argument has two bytes.
        let code = [[9, 0].repeat(5), vec![OPCODES.extended, 0, OPCODES.call_ex, 1]].concat();
        let found = stacks(&code, &[], false, |_, _, _| Some(1));
        let callee = if MINOR == 13 { 1 } else { 2 };
        assert_eq!(found[5..], [Stack::Call(callee, 4 - callee as u8); 2]);
    }

    #[test]
    fn whatever_the_bytes_nothing_is_lost() {
        let noise: Vec<u8> = (0..1000_u32).map(|i| (i.wrapping_mul(2_654_435_761) >> 13) as u8).collect();
        for length in 0..noise.len() {
            let found = stacks(&noise[..length], &noise[..length / 3], length % 2 == 0, |_, _, _| Some(1));
            assert_eq!(found.len(), length / UNIT);
        }
    }
}
