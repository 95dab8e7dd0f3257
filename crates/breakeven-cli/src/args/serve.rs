//! Arguments of `serve`.

use clap::Args;

const EXAMPLES: &str = "\
Examples:
  breakeven serve
  breakeven serve --port 8000 --no-open
  curl -s http://127.0.0.1:8000/api/v1/estimate -H 'Content-Type: application/json' \\
    -d '{\"numbers\": {\"flops\": \"10 TFLOP\", \"cpu_rate\": \"400 GFLOP/s\"}, \"options\": {\"gpu\": [\"l4\"]}}'

docs/api.md has the routes and the limits; the server has them too, at /api/v1/openapi.json.
";

/// Arguments of `serve`.
#[derive(Debug, Args)]
#[command(after_long_help = EXAMPLES)]
pub(crate) struct ServeArgs {
    /// The port; 0 takes one that is free
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub(crate) port: u16,
    /// The address to listen on; beyond loopback, whoever reaches it can ask
    #[arg(long, value_name = "ADDR", default_value = "127.0.0.1")]
    pub(crate) host: String,
    /// Do not open the browser
    #[arg(long)]
    pub(crate) no_open: bool,
}
