//! One self-contained file out of the parts.

use crate::shell::Result;
use base64::{Engine, prelude::BASE64_STANDARD};
use lzma_rust2::{LzmaOptions, LzmaWriter};
use sha2::{Digest, Sha256};
use std::io::Write;

/// What the page is made of.
pub(crate) struct Parts<'a> {
    /// HTML with the marks `{{policy}}`, `{{style}}`, `{{engine}}` and `{{script}}`.
    pub(crate) template: &'a str,
    /// One script, bundled.
    pub(crate) script: &'a str,
    /// One style sheet.
    pub(crate) style: &'a str,
    /// The engine.
    pub(crate) wasm: &'a [u8],
}

/// The file. Its policy allows this script, a worker made of it, this style sheet, and no request at all.
pub(crate) fn assemble(parts: &Parts) -> Result<String> {
    let script = inline(parts.script, "</script")?;
    let style = inline(parts.style, "</style")?;
    let policy = format!(
        "default-src 'none'; script-src '{}' 'wasm-unsafe-eval'; worker-src blob:; style-src '{}'; img-src data:; base-uri 'none'; form-action 'none'",
        hash(script),
        hash(style)
    );
    let engine = base94(&lzma(parts.wasm)?);
    let mut page = parts.template.to_owned();
    for (mark, text) in
        [("{{policy}}", policy.as_str()), ("{{style}}", style), ("{{engine}}", engine.as_str()), ("{{script}}", script)]
    {
        if page.matches(mark).count() != 1 {
            return Err(format!("the template must hold {mark} exactly once"));
        }
        page = page.replace(mark, text);
    }
    Ok(page)
}

/// A `.lzma` file, as `web/src/lzma.ts` reads it.
pub(crate) fn lzma(bytes: &[u8]) -> Result<Vec<u8>> {
    let options = LzmaOptions {
        lc: 4,
        pb: 0,
        nice_len: 200,
        depth_limit: 2000,
        dict_size: bytes.len().next_power_of_two() as u32,
        ..LzmaOptions::with_preset(9)
    };
    let pack = || {
        let mut writer = LzmaWriter::new_use_header(Vec::new(), &options, Some(bytes.len() as u64))?;
        writer.write_all(bytes)?;
        writer.finish()
    };
    pack().map_err(|e| format!("cannot compress: {e}"))
}

/// Bytes as text: thirteen bits in two characters from space to `~` without `<`, a thirteenth less than base64 takes.
/// Of the 94² pairs 644 are left over: the 644 least values take one bit more with them. Zeros fill up the last pair.
fn base94(bytes: &[u8]) -> String {
    let digits: Vec<char> = (' '..='~').filter(|c| *c != '<').collect();
    let pairs = digits.len() * digits.len();
    let mut bits = bytes.iter().flat_map(|byte| (0..8).rev().map(move |i| usize::from(byte >> i & 1))).peekable();
    let mut text = String::with_capacity(bytes.len() * 5 / 4 + 2);
    while bits.peek().is_some() {
        let mut value = (0..13).fold(0, |value, _| value << 1 | bits.next().unwrap_or(0));
        if value < pairs - 8192 {
            value += 8192 * bits.next().unwrap_or(0);
        }
        text.extend([digits[value / digits.len()], digits[value % digits.len()]]);
    }
    text
}

/// Raw DEFLATE, as pages travel.
pub(crate) fn deflate(bytes: &[u8]) -> Result<Vec<u8>> {
    let mut out = Vec::new();
    zopfli::compress(zopfli::Options::default(), zopfli::Format::Deflate, bytes, &mut out)
        .map_err(|e| format!("cannot compress: {e}"))?;
    Ok(out)
}

/// Text that may stand inside an element: nothing in it ends the element.
fn inline<'a>(text: &'a str, end: &str) -> Result<&'a str> {
    let text = text.trim();
    if text.to_ascii_lowercase().contains(end) {
        Err(format!("the bundle holds {end}, which would end its element"))
    } else {
        Ok(text)
    }
}

/// As a content security policy wants it.
fn hash(text: &str) -> String {
    format!("sha256-{}", BASE64_STANDARD.encode(Sha256::digest(text)))
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEMPLATE: &str = "{{policy}}|{{style}}|{{engine}}|{{script}}";

    #[test]
    fn the_policy_names_the_script_by_its_hash() {
        let page = assemble(&Parts { template: TEMPLATE, script: "alert(1)", style: "b{}", wasm: b"\0asm" }).unwrap();
        // From `printf 'alert(1)' | openssl dgst -sha256 -binary | base64`.
        assert!(page.contains("sha256-bhHHL3z2vDgxUt0W3dWQOrprscmda2Y5pLsLg4GF+pI="), "{page}");
        assert!(page.ends_with("|alert(1)"));
    }

    #[test]
    fn thirteen_bits_are_two_characters_and_the_least_values_take_one_more() {
        assert_eq!(base94(&[]), "");
        // 112 zeros are eight times fourteen.
        assert_eq!(base94(&[0; 14]), " ".repeat(16));
        // 2¹³ − 1 is 87·94 + 13; what is left of sixteen ones are three, and ten zeros: 7168 = 76·94 + 24.
        assert_eq!(base94(&[255, 255]), "x-m8");
        // Thirteen zeros and a one: 8192 = 87·94 + 14; then nothing but zeros.
        assert_eq!(base94(&[0, 4]), "x.  ");
        assert_eq!(base94(&[1]), base94(&[1, 0]).get(..2).unwrap());
    }

    #[test]
    fn a_bundle_that_would_end_its_element_is_refused() {
        let parts = Parts { template: TEMPLATE, script: "'</SCRIPT>'", style: "", wasm: b"" };
        assert!(assemble(&parts).unwrap_err().contains("</script"));
    }
}
