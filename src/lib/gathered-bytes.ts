const noBytes = Buffer.alloc(0);
const roomBytesMin = 512;

/** Gathers bytes by doubling; holds at most twice what has arrived, and 512 bytes. */
export function gatherBytes() {
  let bytes: Buffer = noBytes;
  let length = 0;
  return {
    get length() {
      return length;
    },
    /** Copies a piece, which may be a view of a buffer that is larger or used again. */
    add(piece: Uint8Array): void {
      const before = length;
      length += piece.length;
      if (before === 0) {
        // Most come in one piece.
        bytes = Buffer.from(piece);
        return;
      }
      if (length > bytes.length) {
        const larger = Buffer.allocUnsafe(Math.max(length, 2 * bytes.length, roomBytesMin));
        bytes.copy(larger, 0, 0, before);
        bytes = larger;
      }
      bytes.set(piece, before);
    },
    /** All of them, which are forgotten here; the buffer is the caller's. */
    take(): Buffer {
      const taken = length === bytes.length ? bytes : bytes.subarray(0, length);
      bytes = noBytes;
      length = 0;
      return taken;
    },
  };
}
