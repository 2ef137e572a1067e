/** An encoding as TextDecoder names it. */
export type TextEncoding = 'utf-8' | 'utf-16le' | 'utf-16be' | 'windows-1252';

/** UTF-16 begins with a byte order mark; what is no UTF-8 is Windows-1252 [contract 15]. */
export function createEncodingFinder() {
  const utf8 = new TextDecoder('utf-8', { fatal: true });
  let start: readonly number[] = [];
  let isUtf8 = true;

  function check(piece?: Uint8Array): void {
    try {
      if (isUtf8) utf8.decode(piece, { stream: piece !== undefined });
    } catch {
      isUtf8 = false;
    }
  }

  return {
    push(piece: Uint8Array): void {
      if (start.length < 2) start = [...start, ...piece.subarray(0, 2 - start.length)];
      check(piece);
    },
    end(): TextEncoding {
      check();
      const [first, second] = start;
      if (first === 0xff && second === 0xfe) return 'utf-16le';
      if (first === 0xfe && second === 0xff) return 'utf-16be';
      return isUtf8 ? 'utf-8' : 'windows-1252';
    },
  };
}
