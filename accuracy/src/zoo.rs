//! Image networks as graphs in the layout of `networks/graphs`: what was measured of them elsewhere comes without one.

use std::fmt::Write;

type Image = [u64; 4];

/// Rows of a graph, those of the gradients apart.
struct Graph {
    rows: String,
    /// In forward order; they run in the opposite one.
    gradients: Vec<String>,
    training: bool,
}

const HEADER: &str = "op,phase,idx,args,in_shapes,out_shape,repeat\n";

impl Graph {
    fn new(training: bool) -> Self {
        Self { rows: HEADER.to_owned(), gradients: Vec::new(), training }
    }

    fn finish(self) -> String {
        self.rows + &self.gradients.into_iter().rev().collect::<String>()
    }

    fn row(&mut self, op: &str, args: &str, input: &str, output: &str, gradients: &[u32]) {
        let _ = writeln!(self.rows, "{op},fw,0,\"{args}\",\"{input}\",\"{output}\",1");
        if self.training {
            let each = gradients.iter().map(|i| format!("{op},bw,{i},\"{args}\",\"{input}\",\"{output}\",1\n"));
            self.gradients.push(each.collect());
        }
    }

    fn conv(&mut self, x: Image, cout: u64, k: u64, stride: u64, groups: u64) -> Image {
        let [b, cin, h, _] = x;
        let side = (h + 2 * (k / 2) - k) / stride + 1;
        let y = [b, cout, side, side];
        // No one asks for the gradient of the pictures.
        let gradients: &[u32] = if cin == 3 { &[1] } else { &[0, 1] };
        self.row("Conv2d", "", &format!("[{x:?}, {:?}]", [cout, cin / groups, k, k]), &format!("{y:?}"), gradients);
        y
    }

    fn map(&mut self, op: &str, x: Image) -> Image {
        self.row(op, &format!("{x:?}"), &format!("[{x:?}]"), &format!("{x:?}"), &[0]);
        x
    }

    /// Convolution, batch-norm and ReLU.
    fn layer(&mut self, x: Image, cout: u64, k: u64, stride: u64, groups: u64) -> Image {
        let y = self.conv(x, cout, k, stride, groups);
        self.map("BatchNorm2d", y);
        self.map("ReLU", y)
    }

    /// The sum of two branches, whose gradient passes through.
    fn add(&mut self, x: Image) {
        self.row("add", &format!("{x:?}"), "", &format!("{x:?}"), &[]);
    }

    /// Two branches read `x` from here on: their gradients are summed.
    fn fork(&mut self, x: Image) {
        if self.training {
            self.gradients.push(format!("add,bw,0,\"{x:?}\",,\"{x:?}\",1\n"));
        }
    }

    fn pool(&mut self, op: &str, x: Image, side: u64) -> Image {
        let y = [x[0], x[1], side, side];
        self.row(op, "", &format!("[{x:?}]"), &format!("{y:?}"), &[0]);
        y
    }

    fn linear(&mut self, rows: u64, inputs: u64, outputs: u64) {
        self.row("Linear", &format!("{:?}", [rows, inputs, outputs]), "", "", &[0, 1]);
    }
}

/// ResNet-50 (He et al. 2016) on pictures of 224×224.
pub fn resnet50(batch: u64, training: bool) -> String {
    let mut g = Graph::new(training);
    let x = g.layer([batch, 3, 224, 224], 64, 7, 2, 1);
    let mut x = g.pool("MaxPool2d", x, 56);
    for (blocks, width, stride) in [(3, 64, 1), (4, 128, 2), (6, 256, 2), (3, 512, 2)] {
        for block in 0..blocks {
            let stride = if block == 0 { stride } else { 1 };
            g.fork(x);
            let y = g.layer(x, width, 1, 1, 1);
            let y = g.layer(y, width, 3, stride, 1);
            let y = g.conv(y, 4 * width, 1, 1, 1);
            g.map("BatchNorm2d", y);
            if block == 0 {
                g.conv(x, 4 * width, 1, stride, 1);
                g.map("BatchNorm2d", y);
            }
            g.add(y);
            x = g.map("ReLU", y);
        }
    }
    g.pool("AdaptiveAvgPool2d", x, 1);
    g.linear(batch, 2048, 1000);
    g.finish()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::networks::{Network, calls, network};
    use crate::score::network_time;
    use breakeven::hardware::Catalogue;
    use breakeven::kernel::{Constants, kernel_time};
    use breakeven::units::Bytes;
    use breakeven::workload::Family;

    /// VGG-16 (Simonyan & Zisserman 2015).
    fn vgg16(batch: u64, training: bool) -> String {
        let mut g = Graph::new(training);
        let mut x = [batch, 3, 224, 224];
        for (layers, width) in [(2, 64), (2, 128), (3, 256), (3, 512), (3, 512)] {
            for _ in 0..layers {
                let y = g.conv(x, width, 3, 1, 1);
                x = g.map("ReLU", y);
            }
            x = g.pool("MaxPool2d", x, x[2] / 2);
        }
        g.linear(batch, 25_088, 4096);
        g.linear(batch, 4096, 4096);
        g.linear(batch, 4096, 1000);
        g.finish()
    }

    /// MobileNet-v2 (Sandler et al. 2018).
    fn mobilenet_v2(batch: u64, training: bool) -> String {
        let mut g = Graph::new(training);
        let mut x = g.layer([batch, 3, 224, 224], 32, 3, 2, 1);
        let stages =
            [(1, 16, 1, 1), (6, 24, 2, 2), (6, 32, 3, 2), (6, 64, 4, 2), (6, 96, 3, 1), (6, 160, 3, 2), (6, 320, 1, 1)];
        for (wider, width, blocks, stride) in stages {
            for block in 0..blocks {
                let stride = if block == 0 { stride } else { 1 };
                if stride == 1 && x[1] == width {
                    g.fork(x);
                }
                let y = if wider > 1 { g.layer(x, wider * x[1], 1, 1, 1) } else { x };
                let y = g.layer(y, y[1], 3, stride, y[1]);
                let y = g.conv(y, width, 1, 1, 1);
                g.map("BatchNorm2d", y);
                if y == x {
                    g.add(y);
                }
                x = y;
            }
        }
        let x = g.layer(x, 1280, 1, 1, 1);
        g.pool("AdaptiveAvgPool2d", x, 1);
        g.linear(batch, 1280, 1000);
        g.finish()
    }

    fn of(graph: &str) -> Network {
        network(calls(graph.as_bytes(), "made here").expect("a graph"))
    }

    /// Multiply-adds of one picture as the papers give them, and training as three passes.
    #[test]
    fn image_networks_lie_above_the_roofline_and_train_in_three_passes() {
        type Make = fn(u64, bool) -> String;
        // On an H100 gradients of depth-wise convolutions took 5 times their forward pass (MobileNet-v3), of batch-norms 2.5.
        let networks: [(Make, f64, f64); 3] =
            [(resnet50, 4.1e9, 4.5), (vgg16, 15.5e9, 4.5), (mobilenet_v2, 0.3e9, 7.0)];
        for (make, macs, most) in networks {
            let (inference, training) = (of(&make(32, false)), of(&make(32, true)));
            assert!(inference.unknown.is_empty() && training.unknown.is_empty(), "{:?}", training.unknown);
            let products = |n: &Network| -> f64 {
                let device = &Catalogue::embedded().gpu("v100-pcie-16gb").expect("in the catalogue").device;
                let dense =
                    n.distinct.iter().filter(|(op, _)| matches!(op.family(), Family::Convolution | Family::Matmul));
                dense
                    .map(|(op, times)| times * kernel_time(op, n.dtype, Bytes::ZERO, Bytes::ZERO, device).flop.get())
                    .sum()
            };
            let flop = products(&inference);
            assert!((flop / (64.0 * macs) - 1.0).abs() < 0.1, "{flop}");
            for gpu in
                ["v100-pcie-16gb", "t4", "p100-pcie-16gb", "a100-sxm4-80gb", "h100-sxm5-80gb", "mi210", "rtx-4090"]
            {
                let device = &Catalogue::embedded().gpu(gpu).expect("in the catalogue").device;
                let time = |n: &Network| network_time(Constants::shipped(), device, n).p50;
                let peak = device.peaks.f32_vector.expect("given").get();
                let (once, trained) = (time(&inference), time(&training));
                // Winograd may do four times less of the arithmetic; nobody needs fifty times the bytes of the least.
                assert!(once > flop / peak / 4.0, "{gpu}: {once}");
                assert!(once < 4.0 * flop / peak + 2e-3 * 32.0, "{gpu}: {once}");
                assert!((2.2..=most).contains(&(trained / once)), "{gpu}: {trained} {once}");
            }
        }
    }
}
