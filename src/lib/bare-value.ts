const numeral = /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?$/;
/** With neither a point nor a sign these are hexadecimal digits and versions: 241408E4, 12E3. */
const exponentOfNoNumber = /^\d{2,}[eE]\d+$/;
/** As C, JavaScript, Python and Windows print what is no number. */
const failedProbe = /^[-+]?(?:nan(?:\([^)]*\))?|inf(?:inity)?|1\.#[a-z]+\d*)$/i;
/** Longer texts are no number, and no word that stands for one. */
const charactersMax = 1_024;

/** The kind of a value that stands outside of JSON [contract 15]; a failed probe prints `nan`. */
export function bareKind(text: string): 'number' | 'text' | 'failed probe' {
  if (text.length > charactersMax) return 'text';
  const trimmed = text.trim();
  if (failedProbe.test(trimmed)) return 'failed probe';
  const isNumber = isNumeral(trimmed) && !exponentOfNoNumber.test(trimmed);
  // Beyond the range of a double the text says more.
  return isNumber && Number.isFinite(Number(trimmed)) ? 'number' : 'text';
}

/** Whether a text without white space around it is a number as JSON writes it. */
export const isNumeral = (text: string): boolean => numeral.test(text);

/** Why what a failed probe printed is refused. */
export const failedProbeReason = (text: string): string =>
  `the value ${text.trim()} is no number: send nothing when a probe fails`;

const padding = /[\s\0]/;
const byteOrderMark = 0xfeff;

/** Drops byte order marks before a value or body, and NULs and white space after it. */
export function withoutPadding(text: string): string {
  let start = 0;
  while (text.charCodeAt(start) === byteOrderMark) start += 1;
  let end = text.length;
  while (end > start && padding.test(text.charAt(end - 1))) end -= 1;
  return text.slice(start, end);
}
