/**
 * Old sketches send raw text where a bare value is expected [contract 2]. What begins like JSON
 * must be JSON; so must what only a broken number printer writes.
 */
export function isRawText(text: string): boolean {
  const trimmed = text.trim();
  if (/^["[{]/.test(trimmed) || /^(true|false|null)$/.test(trimmed)) return false;
  if (/^[-+]?(nan|inf|infinity)$/i.test(trimmed) || trimmed === 'undefined') return false;
  return !/^-?\d+(\.\d+)?([eE][-+]?\d+)?$/.test(trimmed);
}
