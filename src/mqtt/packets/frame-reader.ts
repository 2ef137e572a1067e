import { malformed, ProtocolError, packetType, protocolError, reason } from './packet.ts';

/** The budget for bytes of a connection that cannot be handed on yet. */
export interface PartialBudget {
  /** Reserves so many bytes instead of those before; false: the budget refuses. */
  hold(bytes: number): boolean;
}

/** Gets every packet: its first byte, what follows the length, and whether more have arrived. */
type FrameHandler = (header: number, body: Buffer, isMore: boolean) => void;
/** Bytes that may arrive after stop(): chunks that were already under way. */
const waitingBytesMax = 1_048_576;

/** Cuts what arrives into packets; keeps at most one unfinished packet, within the limits. */
export class FrameReader {
  readonly #onFrame: FrameHandler;
  readonly #limits: FrameLimits;
  readonly #room: PartialBudget;
  readonly #partial: PartialPacket;
  #waiting: Buffer | undefined;
  #state: 'reading' | 'stopped' | 'disposed' = 'reading';

  constructor(limits: FrameLimits, room: PartialBudget, onFrame: FrameHandler) {
    this.#limits = limits;
    this.#room = room;
    this.#onFrame = onFrame;
    this.#partial = new PartialPacket(limits);
  }

  /** Whether packets wait for resume(). */
  get isWaiting(): boolean {
    return this.#waiting !== undefined;
  }

  /** Hands on the packets that end in this chunk; throws ProtocolError, and what onFrame throws. */
  read(chunk: Buffer) {
    if (this.#state === 'reading')
      return this.#cut(this.#partial.length === 0 ? chunk : this.#complete(chunk));
    const length = (this.#waiting?.length ?? 0) + chunk.length;
    if (length > waitingBytesMax) {
      throw new ProtocolError(reason.messageRateTooHigh, 'the client does not wait');
    }
    this.#wait(this.#waiting === undefined ? chunk : Buffer.concat([this.#waiting, chunk]));
  }

  /** No packet is handed on from now on, not even those of the chunk being read. */
  stop(): void {
    if (this.#state === 'reading') this.#state = 'stopped';
  }

  /** Goes on with what waits. */
  resume(): void {
    if (this.#state === 'disposed') return;
    this.#state = 'reading';
    const waiting = this.#waiting;
    this.#wait(undefined);
    if (waiting !== undefined) this.read(waiting);
  }

  /** Forgets what waits and what comes, and gives the budget back. */
  dispose() {
    this.#state = 'disposed';
    this.#waiting = undefined;
    this.#partial.take();
    this.#room.hold(0);
  }

  #cut(bytes: Buffer) {
    let offset = 0;
    while (offset < bytes.length) {
      if (this.#state !== 'reading') return this.#wait(bytes.subarray(offset));
      let at = offset + 1;
      let length = 0;
      let byte = 0x80;
      for (let shift = 0; byte >= 0x80 && at < bytes.length; shift += 7) {
        if (shift === 28) throw tooLong();
        byte = bytes[at] ?? 0;
        length += (byte & 0x7f) << shift;
        at += 1;
      }
      if (byte >= 0x80) {
        if (at - offset >= headerBytesMax) throw tooLong();
        this.#begin(bytes.subarray(offset), 0);
        return;
      }
      if (byte === 0 && at - offset > 2) throw tooLong();
      const header = bytes[offset] ?? 0;
      requireClients(header, length);
      const end = at + length;
      if (length > this.#limits.packetBytesMax) this.#admitLarge(header, length);
      if (end > bytes.length) return this.#begin(bytes.subarray(offset), end - offset);
      offset = end;
      this.#onFrame(header, bytes.subarray(at, end), end < bytes.length);
    }
  }

  #begin(bytes: Buffer, frameLength: number): void {
    this.#partial.begin(bytes, frameLength);
    this.#count();
  }

  /** Adds to the unfinished packet; answers what is left to be cut. */
  #complete(chunk: Buffer): Buffer {
    const { length, frameLength } = this.#partial;
    if (frameLength === 0) {
      const joined = Buffer.concat([this.#partial.take(), chunk]);
      this.#count();
      return joined;
    }
    const rest = chunk.subarray(frameLength - length);
    this.#partial.append(chunk.subarray(0, frameLength - length));
    this.#count();
    if (this.#partial.length < frameLength) return rest;
    const frame = this.#partial.take();
    this.#count();
    this.#onFrame(frame[0] ?? 0, frame.subarray(headerLength(frame)), rest.length > 0);
    return rest;
  }

  #wait(bytes: Buffer | undefined): void {
    if (this.#state === 'disposed') return;
    this.#waiting = bytes;
    this.#count();
  }

  /** By what has arrived, not by what a packet announces. */
  #count(): void {
    const bytes = this.#partial.length + (this.#waiting?.length ?? 0);
    if (this.#room.hold(bytes)) return;
    throw new ProtocolError(reason.quotaExceeded, 'too many bytes of large packets are under way');
  }

  #admitLarge(header: number, length: number): void {
    if (header >> 4 !== 3 || length > this.#limits.largePacketBytesMax) throw tooLarge();
  }
}

/** Refuses what no client sends before its body arrives, which may never be. */
function requireClients(header: number, length: number): void {
  const type = header >> 4;
  if (type === packetType.publish) return;
  if (type === 0) throw malformed('there is no packet of this type');
  if (ofServer.has(type)) throw protocolError('this packet is one of a server');
  if (type !== packetType.pingreq) return;
  if ((header & 15) !== 0) throw malformed('the packet has reserved flags');
  if (length > 0) throw malformed('the packet is longer than its fields');
}

const ofServer: ReadonlySet<number> = new Set([
  packetType.connack,
  packetType.suback,
  packetType.unsuback,
  packetType.pingresp,
]);

const tooLong = (): ProtocolError =>
  new ProtocolError(reason.malformed, 'the length of the packet is malformed', { isSilent: true });

/** How large packets may be. */
export interface FrameLimits {
  readonly packetBytesMax: number;
  /** A PUBLISH, on a topic that may have the largest. */
  readonly largePacketBytesMax: number;
  /** How large a PUBLISH on this topic may be. */
  readonly bytesMaxOf: (topic: string) => number;
}

const headerBytesMax = 5;
const firstRoomBytes = 512;
const noBytes = Buffer.alloc(0);

/** A packet that has arrived in part. */
class PartialPacket {
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
function headerLength(frame: Buffer): number {
  let at = 1;
  while ((frame[at] ?? 0) >= 0x80) at += 1;
  return at + 1;
}

/** The refusal of a packet that is larger than it may be. */
const tooLarge = (): ProtocolError =>
  new ProtocolError(reason.packetTooLarge, 'the packet is too large');
