//! The transformer that a number of parameters stands for.

/// Sizes of a decoder-only transformer, element counts.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Shape {
    pub layers: f64,
    pub width: f64,
    pub heads: f64,
    /// Of the layer between two products.
    pub hidden: f64,
    pub vocabulary: f64,
    /// Whether the output layer has weights of its own.
    pub untied: bool,
}

/// A layer of width d has 12·d² parameters, and networks of the GPT-3 and LLaMA families have about d/128 layers
/// (Brown et al. 2020, table 2.1; Touvron et al. 2023, table 2), small ones twelve.
const PER_LAYER: f64 = 12.0;
const WIDTH_PER_LAYER: f64 = 128.0;
const LEAST_LAYERS: f64 = 12.0;
/// Width of a head.
const HEAD: f64 = 128.0;
/// Tokens known, as LLaMA's.
const VOCABULARY: f64 = 32_000.0;
/// Smaller networks share the weights of input and output.
const TIED_BELOW: f64 = 1e9;

impl Shape {
    /// The shape with that many parameters; the hidden layer takes what the rounding of the others leaves.
    ///
    /// 6.7 billion are 32 layers of width 4096, as in LLaMA 7B.
    pub(super) fn of(parameters: f64) -> Self {
        let shallow = libm::sqrt(parameters / (PER_LAYER * LEAST_LAYERS));
        let deep = libm::cbrt(parameters * WIDTH_PER_LAYER / PER_LAYER);
        let width = rounded(if deep < LEAST_LAYERS * WIDTH_PER_LAYER { shallow } else { deep });
        let layers =
            (parameters / (PER_LAYER * width * width)).round().clamp(1.0, (width / WIDTH_PER_LAYER).max(LEAST_LAYERS));
        let untied = parameters >= TIED_BELOW;
        let vocabulary = VOCABULARY.min((parameters / (8.0 * width)).ceil());
        let embedded = vocabulary * width * if untied { 2.0 } else { 1.0 };
        let hidden = ((parameters - embedded) / layers - 4.0 * width * width) / (2.0 * width);
        Self {
            layers,
            width,
            heads: (width / HEAD).round().max(1.0),
            hidden: hidden.round().max(1.0),
            vocabulary,
            untied,
        }
    }

    /// Weights that each token is multiplied with.
    #[cfg(test)]
    fn multiplied(&self) -> f64 {
        self.layers * (4.0 * self.width * self.width + 2.0 * self.width * self.hidden) + self.vocabulary * self.width
    }
}

/// A multiple of 128, of 8 for small ones.
fn rounded(width: f64) -> f64 {
    let step = if width >= 256.0 { 128.0 } else { 8.0 };
    ((width / step).round() * step).max(step)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn published_shapes() {
        for (parameters, layers, width) in [(6.74e9, 32.0, 4096.0), (13e9, 40.0, 5120.0), (175e9, 96.0, 12288.0)] {
            let shape = Shape::of(parameters);
            assert!(
                (shape.layers / layers - 1.0).abs() < 0.15 && (shape.width / width - 1.0).abs() < 0.05,
                "{shape:?}"
            );
        }
    }

    proptest! {
        #[test]
        fn all_parameters_are_somewhere(exponent in 5.0..13.0_f64) {
            let parameters = libm::pow(10.0, exponent);
            let shape = Shape::of(parameters);
            let embedding = if shape.untied { shape.vocabulary * shape.width } else { 0.0 };
            let sum = shape.multiplied() + embedding;
            prop_assert!((sum / parameters - 1.0).abs() < 0.02, "{shape:?} {sum} {parameters}");
            prop_assert!(shape.hidden >= shape.width, "{shape:?}");
        }
    }
}
