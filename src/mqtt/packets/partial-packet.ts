import { ProtocolError, reason } from './reason-codes.ts';

/** How large packets may be. */
export interface FrameLimits {
  readonly packetBytesMax: number;
  /** A PUBLISH, on a topic that may have the largest. */
  readonly largePacketBytesMax: number;
  /** How large a PUBLISH on this topic may be. */
  readonly bytesMaxOf: (topic: string) => number;
}

export const headerBytesMax = 5;
const firstRoomBytes = 512;
const noBytes = Buffer.alloc(0);

/** A packet that has arrived in part. */
export class PartialPacket {
  readonly #limits: FrameLimits;
  /** The buffer of the packet: its first `#length` bytes are there. */
  #bytes = noBytes;
  #length = 0;
  #frameLength = 0;
  #isTopicChecked = false;

  constructor(limits: FrameLimits) {
    this.#limits = limits;
  }

  /** How many bytes of it are there; 0: it has not begun. */
  get length(): number {
    return this.#length;
  }

  /** How long it will be; 0: even its length has not arrived. */
  get frameLength(): number {
    return this.#frameLength;
  }

  begin(bytes: Buffer, frameLength: number): void {
    this.#frameLength = frameLength;
    this.append(bytes);
  }

  /** Throws ProtocolError as soon as it is seen to be larger than its topic may have. */
  append(bytes: Buffer): void {
    const known = this.#length;
    this.#length += bytes.length;
    if (this.#length > this.#bytes.length) this.#grow(known);
    bytes.copy(this.#bytes, known);
    if (this.#frameLength > this.#limits.packetBytesMax && !this.#isTopicChecked) {
      this.#checkTopic();
    }
  }

  /** Takes out the bytes that have arrived, and forgets them here. */
  take(): Buffer {
    const bytes = this.#bytes.subarray(0, this.#length);
    this.#bytes = noBytes;
    this.#length = 0;
    this.#frameLength = 0;
    this.#isTopicChecked = false;
    return bytes;
  }

  /** Doubles the buffer: the length that a packet announces is not yet a reason to allocate it. */
  #grow(known: number): void {
    const wanted = Math.max(this.#length, 2 * this.#bytes.length, firstRoomBytes);
    const size = this.#frameLength === 0 ? headerBytesMax : Math.min(wanted, this.#frameLength);
    const larger = Buffer.allocUnsafe(size);
    this.#bytes.copy(larger, 0, 0, known);
    this.#bytes = larger;
  }

  /** As soon as its topic is there, a large packet is refused unless such a topic may have it. */
  #checkTopic(): void {
    const bytes = this.#bytes;
    const start = headerLength(bytes);
    if (this.#length < start + 2) return;
    const topicStart = start + 2;
    const topicEnd = topicStart + bytes.readUInt16BE(start);
    if (this.#length < topicEnd) return;
    this.#isTopicChecked = true;
    // Without a topic there is an alias, which the connection knows.
    if (topicEnd === topicStart) return;
    const topic = bytes.toString('latin1', topicStart, topicEnd);
    if (this.#frameLength - start > this.#limits.bytesMaxOf(topic)) throw tooLarge();
  }
}

/** Where the body of a packet begins whose length has arrived. */
export function headerLength(frame: Buffer): number {
  let at = 1;
  while ((frame[at] ?? 0) >= 0x80) at += 1;
  return at + 1;
}

/** The refusal of a packet that is larger than it may be. */
export const tooLarge = (): ProtocolError =>
  new ProtocolError(reason.packetTooLarge, 'the packet is too large');
