//! Laws of lowering: any call of any callable, with any shapes.

use super::*;
use proptest::prelude::*;
use proptest::sample::select;

const DTYPES: &[Dtype] = &[
    Dtype::F64,
    Dtype::F32,
    Dtype::F16,
    Dtype::I64,
    Dtype::I32,
    Dtype::U8,
    Dtype::Bool,
    Dtype::C64,
    Dtype::C128,
    Dtype::Other,
];

/// Lengths of axes: small, zero, one, and so large that products overflow.
fn length() -> impl Strategy<Value = u64> {
    prop_oneof![4 => 0..6_u64, 2 => 6..5000_u64, 1 => select(&[u64::MAX, 1 << 40, u64::MAX / 2][..])]
}

fn array() -> impl Strategy<Value = ArrayRef> {
    let shape = prop_oneof![8 => prop::collection::vec(length(), 0..5), 1 => prop::collection::vec(length(), 30..33)];
    let layout = select(&[Layout::C, Layout::F, Layout::Strided][..]);
    (select(DTYPES), shape, layout, any::<bool>()).prop_map(|(dtype, shape, layout, wide)| ArrayRef {
        layout,
        item_bytes: if wide { u32::MAX } else { dtype.bytes() as u32 },
        ..ArrayRef::new(dtype, &shape)
    })
}

/// Shapes that broadcast with each other, and what they broadcast to.
fn broadcasting() -> impl Strategy<Value = (Vec<u64>, Vec<u64>, Vec<u64>)> {
    prop::collection::vec((0..9_u64, 0..3_u8), 0..5).prop_map(|axes| {
        let side = |stretched: u8| axes.iter().map(|&(n, how)| if how == stretched { 1 } else { n }).collect();
        (side(1), side(2), axes.iter().map(|&(n, _)| n).collect())
    })
}

const KEYWORDS: &[&str] =
    &["axis", "axes", "copied", "subscripts", "n", "size", "sigma", "truncate", "ord", "method", "up"];

fn keyword() -> impl Strategy<Value = (String, String)> {
    let value = prop_oneof![
            select(
                &[
                    "0",
                    "-1",
                    "(0, 1)",
                    "None",
                    "true",
                    "fft",
                    "2",
                    "ij,jk->ik",
                    "ii",
                    "",
                    "é->",
                    "1e308",
                    "-9e18",
                    "nan"
                ][..]
            )
            .prop_map(str::to_owned),
            "\\PC{0,12}",
        ];
    (select(KEYWORDS).prop_map(str::to_owned), value)
}

fn name() -> impl Strategy<Value = String> {
    let listed: Vec<&str> = callables().iter().map(|c| c.name.as_str()).collect();
    prop_oneof![9 => select(listed).prop_map(str::to_owned), 1 => "\\PC{0,30}"]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn any_call_lowers(
        name in name(),
        inputs in prop::collection::vec(array(), 0..7),
        outputs in prop::collection::vec(array(), 0..4),
        keywords in prop::collection::vec(keyword(), 0..3),
        scalar_result: bool,
    ) {
        let keywords: Vec<_> = keywords.iter().map(|(k, v)| (k.as_str(), v.as_str())).collect();
        let call = Call { name: &name, inputs: &inputs, outputs: &outputs, keywords: &keywords, scalar_result };
        let lowered = lower(&call);
        prop_assert_eq!(&lowered, &lower(&call));
        let whole = |arrays: &[ArrayRef]| arrays.iter().fold(0_u64, |sum, a| sum.saturating_add(a.bytes()));
        prop_assert!(lowered.read <= whole(&inputs));
        // Without results, what is changed in place is written.
        prop_assert!(outputs.is_empty() || lowered.written <= whole(&outputs));
        if inputs.iter().chain(&outputs).any(|a| a.dtype == Dtype::Other) && callable(&name).is_none() {
            prop_assert_eq!(lowered.op, Op::HostOnly);
        }
    }

    #[test]
    fn element_wise_n_is_the_broadcast((a, b, out) in broadcasting(), dtype in select(&DTYPES[..3])) {
        let [inputs, outputs] = [vec![ArrayRef::new(dtype, &a), ArrayRef::new(dtype, &b)], vec![ArrayRef::new(dtype, &out)]];
        for outputs in [&outputs[..], &[]] {
            let call = Call { name: "numpy.add", inputs: &inputs, outputs, keywords: &[], scalar_result: false };
            let Op::Elementwise { n, inputs: 2, .. } = lower(&call).op else { panic!() };
            prop_assert_eq!(n, out.iter().product::<u64>());
        }
    }

    #[test]
    fn a_product_counts_its_multiplications(m in 1..50_u64, k in 1..50_u64, n in 1..50_u64, batch in 1..5_u64) {
        let run = |name, a: &[u64], b: &[u64], out: &[u64]| {
            let [a, b, out] = [a, b, out].map(|shape| ArrayRef::new(Dtype::F32, shape));
            let (inputs, outputs) = ([a, b], [out]);
            lower(&Call { name, inputs: &inputs, outputs: &outputs, keywords: &[], scalar_result: false }).op
        };
        let flop = |op: Op| match op {
            Op::Matmul { m, n, k, batch, .. } => m * n * k * batch,
            op => panic!("{op:?}"),
        };
        let whole = m * n * k;
        prop_assert_eq!(flop(run("numpy.matmul", &[batch, m, k], &[k, n], &[batch, m, n])), whole * batch);
        prop_assert_eq!(flop(run("numpy.dot", &[batch, m, k], &[k, n], &[batch, m, n])), whole * batch);
        prop_assert_eq!(flop(run("numpy.tensordot", &[k, m], &[n, k], &[m, n])), whole);
        prop_assert_eq!(flop(run("numpy.inner", &[m, k], &[n, k], &[m, n])), whole);
    }

    /// What a subscript says and what the shapes alone say agree.
    #[test]
    fn einsum_with_and_without_subscripts(m in 2..40_u64, k in 2..40_u64, n in 2..40_u64) {
        let (inputs, outputs) = (
            [ArrayRef::new(Dtype::F64, &[m, k]), ArrayRef::new(Dtype::F64, &[k, n])],
            [ArrayRef::new(Dtype::F64, &[m, n])],
        );
        let run = |keywords: &[(&str, &str)]| {
            lower(&Call { name: "numpy.einsum", inputs: &inputs, outputs: &outputs, keywords, scalar_result: false }).op
        };
        prop_assert_eq!(run(&[("subscripts", "ij,jk->ik")]), run(&[]));
    }
}

#[test]
fn every_rule_of_the_table_makes_an_op_of_ordinary_arrays() {
    let square = || ArrayRef::new(Dtype::F64, &[8, 8]);
    let (inputs, outputs) = ([square(), square()], [square()]);
    // Layers of networks want arrays of their own: `tensor.rs` tries those. What tells sizes, or all, has none.
    let told = |rule| matches!(rule, Rule::Frame(_) | Rule::Told | Rule::Learn(..) | Rule::Loops);
    for c in callables().iter().filter(|c| !matches!(c.rule, Rule::Tensor(_)) && !told(c.rule)) {
        let call = Call { name: &c.name, inputs: &inputs, outputs: &outputs, keywords: &[], scalar_result: false };
        let op = lower(&call).op;
        let expected = matches!(c.rule, Rule::Composite | Rule::Opaque | Rule::SparseProduct);
        assert_eq!(op == Op::Opaque, expected, "{}: {op:?}", c.name);
    }
}
