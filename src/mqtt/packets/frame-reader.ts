import { packetType } from './packet.ts';
import { malformed, ProtocolError, protocolError, reason } from './reason-codes.ts';

/** How large packets may be. */
export interface FrameLimits {
  readonly packetBytesMax: number;
  /** A PUBLISH, on a topic that may have the largest. */
  readonly largePacketBytesMax: number;
  /** How large a PUBLISH on this topic may be. */
  readonly bytesMaxOf: (topic: string) => number;
}

/** The room for what has arrived of a connection and cannot be handed on yet. */
export interface PartialRoom {
  /** So many bytes are held from now on, instead of those before; false: they may not be. */
  hold(bytes: number): boolean;
}

/** Gets every packet: its first byte and what follows the length. */
export type FrameHandler = (header: number, body: Buffer) => void;

const headerBytesMax = 5;
const firstRoomBytes = 512;
/** What may arrive after stop(): chunks that were already under way. */
const waitingBytesMax = 1_048_576;

/** Cuts what arrives into packets; holds at most one unfinished packet, within the limits. */
export class FrameReader {
  readonly #onFrame: FrameHandler;
  readonly #limits: FrameLimits;
  readonly #room: PartialRoom;
  /** The unfinished packet: its first `#partialLength` bytes are there. */
  #partial: Buffer | undefined;
  #partialLength = 0;
  /** How long it will be; 0: even its length has not arrived. */
  #frameLength = 0;
  #isTopicChecked = false;
  #waiting: Buffer | undefined;
  #isStopped = false;

  constructor(limits: FrameLimits, room: PartialRoom, onFrame: FrameHandler) {
    this.#limits = limits;
    this.#room = room;
    this.#onFrame = onFrame;
  }

  /** Hands on the packets that end in this chunk; throws ProtocolError, and what onFrame throws. */
  read(chunk: Buffer): void {
    if (this.#isStopped) {
      const length = (this.#waiting?.length ?? 0) + chunk.length;
      if (length > waitingBytesMax) {
        throw new ProtocolError(reason.messageRateTooHigh, 'the client does not wait');
      }
      this.#wait(this.#waiting === undefined ? chunk : Buffer.concat([this.#waiting, chunk]));
      return;
    }
    this.#cut(this.#partial === undefined ? chunk : this.#complete(chunk));
  }

  /** No packet is handed on from now on, not even those of the chunk being read. */
  stop(): void {
    this.#isStopped = true;
  }

  /** Goes on with what waits. */
  resume(): void {
    this.#isStopped = false;
    const waiting = this.#waiting;
    this.#wait(undefined);
    if (waiting !== undefined) this.read(waiting);
  }

  /** Forgets what waits and gives its room back. */
  dispose(): void {
    this.#waiting = undefined;
    this.#release();
    this.#isStopped = true;
  }

  #cut(bytes: Buffer | undefined): void {
    if (bytes === undefined) return;
    let offset = 0;
    while (offset < bytes.length) {
      if (this.#isStopped) {
        this.#wait(bytes.subarray(offset));
        return;
      }
      let at = offset + 1;
      let length = 0;
      let byte = 0x80;
      for (let shift = 0; byte >= 0x80 && at < bytes.length; shift += 7) {
        if (shift === 28) throw tooLong();
        byte = bytes[at] ?? 0;
        length += (byte & 0x7f) * 2 ** shift;
        at += 1;
      }
      if (byte >= 0x80) {
        if (at - offset >= headerBytesMax) throw tooLong();
        this.#hold(bytes.subarray(offset), 0);
        return;
      }
      if (byte === 0 && at - offset > 2) throw tooLong();
      const header = bytes[offset] ?? 0;
      requireClients(header, length);
      const end = at + length;
      if (length > this.#limits.packetBytesMax) this.#admitLarge(header, length);
      if (end > bytes.length) {
        this.#hold(bytes.subarray(offset), end - offset);
        return;
      }
      offset = end;
      this.#onFrame(header, bytes.subarray(at, end));
    }
  }

  /** Adds to the unfinished packet; answers what is left to be cut. */
  #complete(chunk: Buffer): Buffer | undefined {
    const partial = this.#partial ?? chunk;
    const known = this.#partialLength;
    if (this.#frameLength === 0) {
      const joined = Buffer.concat([partial.subarray(0, known), chunk]);
      this.#release();
      return joined;
    }
    const taken = Math.min(this.#frameLength - known, chunk.length);
    this.#append(chunk.subarray(0, taken));
    if (this.#partialLength < this.#frameLength) return undefined;
    const frame = (this.#partial ?? chunk).subarray(0, this.#frameLength);
    this.#release();
    const bodyStart = headerLength(frame);
    this.#onFrame(frame[0] ?? 0, frame.subarray(bodyStart));
    return chunk.subarray(taken);
  }

  #hold(bytes: Buffer, frameLength: number): void {
    this.#frameLength = frameLength;
    this.#append(bytes);
  }

  #append(bytes: Buffer): void {
    const needed = this.#partialLength + bytes.length;
    const capacity = this.#partial?.length ?? 0;
    if (needed > capacity) {
      // By doubling: the length a packet announces is not yet a reason to give it room.
      const wanted = Math.max(needed, 2 * capacity, firstRoomBytes);
      const size = this.#frameLength === 0 ? headerBytesMax : Math.min(wanted, this.#frameLength);
      const larger = Buffer.allocUnsafe(size);
      this.#partial?.copy(larger, 0, 0, this.#partialLength);
      this.#partial = larger;
    }
    if (this.#partial !== undefined) bytes.copy(this.#partial, this.#partialLength);
    this.#partialLength = needed;
    this.#count();
    if (this.#frameLength > this.#limits.packetBytesMax && !this.#isTopicChecked) {
      this.#checkTopic();
    }
  }

  #release(): void {
    this.#partial = undefined;
    this.#partialLength = 0;
    this.#frameLength = 0;
    this.#isTopicChecked = false;
    this.#count();
  }

  #wait(bytes: Buffer | undefined): void {
    this.#waiting = bytes;
    this.#count();
  }

  /** By what has arrived, not by what a packet announces. */
  #count(): void {
    const bytes = this.#partialLength + (this.#waiting?.length ?? 0);
    if (this.#room.hold(bytes)) return;
    throw new ProtocolError(reason.quotaExceeded, 'too many bytes of large packets are under way');
  }

  #admitLarge(header: number, length: number): void {
    if (header >> 4 !== 3 || length > this.#limits.largePacketBytesMax) throw tooLarge();
  }

  /** As soon as its topic is there, a large packet is refused unless such a topic may have it. */
  #checkTopic(): void {
    const partial = this.#partial;
    if (partial === undefined) return;
    const start = headerLength(partial);
    if (this.#partialLength < start + 2) return;
    const topicStart = start + 2;
    const topicEnd = topicStart + partial.readUInt16BE(start);
    if (this.#partialLength < topicEnd) return;
    this.#isTopicChecked = true;
    // Without a topic there is an alias, which the connection knows.
    if (topicEnd === topicStart) return;
    const topic = partial.toString('latin1', topicStart, topicEnd);
    if (this.#frameLength - start > this.#limits.bytesMaxOf(topic)) throw tooLarge();
  }
}

/** Refuses what no client sends before its body arrives, which may never be. */
function requireClients(header: number, length: number): void {
  const type = header >> 4;
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

function headerLength(frame: Buffer): number {
  let at = 1;
  while ((frame[at] ?? 0) >= 0x80) at += 1;
  return at + 1;
}

const tooLarge = (): ProtocolError =>
  new ProtocolError(reason.packetTooLarge, 'the packet is too large');

const tooLong = (): ProtocolError =>
  new ProtocolError(reason.malformed, 'the length of the packet is malformed', { isSilent: true });
