/** A double holds every decimal number of so many digits. */
const digitsAlwaysHeld = 15;

/**
 * Whether printing the double gives the value of the JSON number literal back, so that nothing is
 * lost by keeping the double: true for 0.1 and 1.50, false for 12345678901234567890.
 */
export function isHeldBy(double: number, literal: string): boolean {
  if (literal.length <= digitsAlwaysHeld && !/[eE]/.test(literal)) return true;
  const printed = decimalOf(String(double));
  const written = decimalOf(literal);
  if (printed.digits !== written.digits) return false;
  return written.digits === '' || printed.exponent === written.exponent;
}

/** The value of a decimal literal, its sign aside: 0.digits × 10^exponent, no outer zeros. */
export function decimalOf(literal: string) {
  const text = /^[+-]/.test(literal) ? literal.slice(1) : literal;
  const exponentAt = text.search(/[eE]/);
  const mantissa = exponentAt < 0 ? text : text.slice(0, exponentAt);
  const exponent = exponentAt < 0 ? 0 : Number(text.slice(exponentAt + 1));
  const pointAt = mantissa.indexOf('.');
  const wholeDigits = pointAt < 0 ? mantissa.length : pointAt;
  const all = mantissa.replace('.', '');
  let start = 0;
  while (start < all.length && all[start] === '0') start += 1;
  let end = all.length;
  while (end > start && all[end - 1] === '0') end -= 1;
  return { digits: all.slice(start, end), exponent: exponent + wholeDigits - start };
}

/**
 * Whether the text may hold a number that a double would change: never false when it does, seldom
 * true when it does not. Up to 15 digits and two digits of exponent always survive; -0 does not.
 */
export function mayHoldUnsafeNumber(text: string): boolean {
  // A run of 16 digits covers one position in 16, so the others are not checked.
  for (let at = digitsAlwaysHeld; at < text.length; at += digitsAlwaysHeld + 1) {
    if (isDigitOrPoint(text.charCodeAt(at)) && isInLongRun(text, at)) return true;
  }
  return unsafeShape.test(text);
}

// An exponent of three digits, or a minus in front of nothing but zeros.
const unsafeShape = /\d[eE][+-]?\d\d\d|-0(?:\.0*)?(?:[eE]|(?![\d.]))/;

const isDigitOrPoint = (code: number): boolean => (code >= 48 && code <= 57) || code === 46;

/** Whether more digits and points stand around this place than a double always holds. */
function isInLongRun(text: string, at: number): boolean {
  let start = at;
  const least = at - digitsAlwaysHeld;
  while (start > 0 && start > least && isDigitOrPoint(text.charCodeAt(start - 1))) start -= 1;
  let end = at;
  const most = start + digitsAlwaysHeld;
  while (end <= most && isDigitOrPoint(text.charCodeAt(end))) end += 1;
  return end - start > digitsAlwaysHeld;
}
