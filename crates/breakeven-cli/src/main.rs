//! The command `breakeven`.

fn main() {
    println!("breakeven {}", env!("CARGO_PKG_VERSION"));
}
