//! Numbers and random bytes → digits, capitals and small letters, in this order.

const ALPHABET: &[u8; 62] = b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";

/// `number` in base62, zero-padded on the left to `width` characters.
pub(super) fn encode(mut number: u32, width: usize) -> String {
    let mut reversed = Vec::with_capacity(width);
    while number > 0 || reversed.len() < width {
        reversed.push(letter(number % 62));
        number /= 62;
    }
    reversed.iter().rev().collect()
}

/// `length` characters, each equally likely.
pub(super) fn random(length: usize) -> Result<String, getrandom::Error> {
    // 248 is the greatest multiple of 62 in a byte; greater bytes would favour the first letters.
    const EVEN: u8 = 248;
    let mut text = String::with_capacity(length);
    let mut bytes = [0_u8; 64];
    while text.len() < length {
        getrandom::fill(&mut bytes)?;
        let wanted = length - text.len();
        text.extend(
            bytes
                .iter()
                .filter(|&&byte| byte < EVEN)
                .take(wanted)
                .map(|&byte| letter(u32::from(byte) % 62)),
        );
    }
    Ok(text)
}

fn letter(digit: u32) -> char {
    usize::try_from(digit)
        .ok()
        .and_then(|at| ALPHABET.get(at))
        .map_or('0', |&byte| char::from(byte))
}
