import { turnMs, turnMsMax } from '../../lib/event-loop.ts';
import type { Transport } from '../broker.ts';

const firstPageBytes = 256;
const pageBytesMax = 16_384;
export type Flusher = ReturnType<typeof createFlusher>;
/** How long writers are flushed before the event loop has its turn, and at least. */
const flushMs = 3;
const flushMsMin = 1;

/** Flushes writers that have something to send in a setImmediate: so many as it has time for. */
export function createFlusher() {
  const writers = new Set<PacketWriter>();
  let isScheduled = false;
  function flush(): void {
    const beganAt = performance.now();
    for (const writer of writers) {
      writers.delete(writer);
      writer.flush();
      const now = performance.now();
      if (now - beganAt > (turnMs(now) < turnMsMax ? flushMs : flushMsMin)) break;
    }
    isScheduled = writers.size > 0;
    if (isScheduled) setImmediate(flush);
  }
  return {
    add(writer: PacketWriter): void {
      writers.add(writer);
      if (!isScheduled) setImmediate(flush);
      isScheduled = true;
    },
  };
}

/** Collects what one connection is to be sent: one write in each iteration of the event loop. */
export class PacketWriter {
  readonly transport: Transport;
  readonly #flusher: Flusher;
  #page: Buffer | undefined;
  #length = 0;
  bytesWritten = 0;

  constructor(transport: Transport, flusher: Flusher) {
    this.transport = transport;
    this.#flusher = flusher;
  }

  /** Reserves so many bytes, at most 16 KiB: write them to page() from the answer on. */
  reserve(size: number): number {
    let page = this.#page;
    if (page === undefined) {
      page = Buffer.allocUnsafe(Math.max(firstPageBytes, size));
      this.#page = page;
      this.#flusher.add(this);
    } else if (this.#length + size > page.length) {
      page = this.#grow(page, size);
    }
    const offset = this.#length;
    this.#length += size;
    this.bytesWritten += size;
    return offset;
  }

  /** The page in which reserve() reserved bytes. */
  page(): Buffer {
    return this.#page ?? emptyPage;
  }

  /** Sends bytes that stay as they are; small ones are copied. */
  write(bytes: Buffer): void {
    if (bytes.length <= 4_096) {
      const offset = this.reserve(bytes.length);
      bytes.copy(this.page(), offset);
      return;
    }
    this.flush();
    this.bytesWritten += bytes.length;
    this.transport.write(bytes);
  }

  /** Hands everything to the transport. */
  flush(): void {
    const page = this.#page;
    if (page === undefined) return;
    const length = this.#length;
    this.#page = undefined;
    this.#length = 0;
    this.transport.write(page.subarray(0, length));
  }

  /** Bytes that have not left: collected here, or buffered by the transport. */
  get waitingBytes(): number {
    return this.#length + this.transport.bufferedBytes;
  }

  #grow(page: Buffer, size: number): Buffer {
    if (this.#length + size > pageBytesMax) {
      this.flush();
      const fresh = Buffer.allocUnsafe(Math.max(pageBytesMax / 4, size));
      this.#page = fresh;
      this.#flusher.add(this);
      return fresh;
    }
    const larger = Buffer.allocUnsafe(
      Math.min(pageBytesMax, Math.max(2 * page.length, this.#length + size)),
    );
    page.copy(larger, 0, 0, this.#length);
    this.#page = larger;
    return larger;
  }
}

const emptyPage = Buffer.alloc(0);
