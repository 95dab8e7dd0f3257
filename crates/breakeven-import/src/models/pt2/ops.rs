//! Calls of PyTorch's operators as the engine's tables name them: those that recorders see, below functions made of others.

/// Functions that are another operator on the same arrays: a GPU runs that.
const SAME: [(&str, &str); 30] = [
    ("adaptive_avg_pool1d", "adaptive_avg_pool2d"),
    ("avg_pool1d", "avg_pool2d"),
    ("batch_norm", "native_batch_norm"),
    ("conv1d", "convolution"),
    ("conv2d", "convolution"),
    ("conv3d", "convolution"),
    ("conv_transpose1d", "convolution"),
    ("conv_transpose2d", "convolution"),
    ("conv_transpose3d", "convolution"),
    ("cross_entropy_loss", "_log_softmax"),
    ("feature_dropout", "dropout"),
    ("group_norm", "native_group_norm"),
    ("instance_norm", "native_group_norm"),
    ("layer_norm", "native_layer_norm"),
    ("log_softmax", "_log_softmax"),
    ("matmul", "bmm"),
    ("max_pool1d", "max_pool2d_with_indices"),
    ("max_pool2d", "max_pool2d_with_indices"),
    ("max_pool3d", "max_pool3d_with_indices"),
    ("pad", "constant_pad_nd"),
    ("relu6", "hardtanh"),
    ("scaled_dot_product_attention", "_scaled_dot_product_flash_attention"),
    ("softmax", "_softmax"),
    ("rms_norm", "_fused_rms_norm"),
    ("selu", "elu"),
    ("square", "pow"),
    ("true_divide", "div"),
    ("upsample_bilinear2d_vec", "upsample_bilinear2d"),
    ("floor_divide", "div"),
    ("type_as", "_to_copy"),
];
/// What computes no array: checks, lengths, places in tuples.
const NONE: [&str; 10] = [
    "_assert",
    "sym_",
    "getitem",
    "_operator.",
    "math.",
    "torch.sym",
    "_check",
    "aten.size",
    "aten.numel",
    "aten.stride",
];

/// The name that the engine's tables have for a target; `None` for what computes no array.
pub(super) fn callable(target: &str) -> Option<String> {
    let bare = target.strip_prefix("torch.ops.").unwrap_or(target);
    if NONE.iter().any(|none| bare.starts_with(none) || bare.contains(&format!(".{none}"))) {
        return None;
    }
    let mut words = bare.split('.');
    let (package, name) = (words.next()?, words.next().unwrap_or(""));
    if package != "aten" {
        return Some(format!("{package}.{name}"));
    }
    let name = if bare.contains(".vec") && name.starts_with("upsample") { name.trim_end_matches("_vec") } else { name };
    let same = SAME.iter().find(|(known, _)| *known == name).map_or(name, |(_, same)| same);
    Some(format!("aten.{same}"))
}

/// Whether an operator is a convolution that goes the other way.
pub(super) fn is_transposed(target: &str) -> bool {
    target.contains("conv_transpose")
}
