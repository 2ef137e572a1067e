import { packetType } from './packet.ts';
import {
  type FrameLimits,
  headerBytesMax,
  headerLength,
  PartialPacket,
  tooLarge,
} from './partial-packet.ts';
import { malformed, ProtocolError, protocolError, reason } from './reason-codes.ts';

/** The budget for bytes of a connection that cannot be handed on yet. */
export interface PartialBudget {
  /** Reserves so many bytes instead of those before; false: the budget refuses. */
  hold(bytes: number): boolean;
}

/** Gets every packet: its first byte and what follows the length. */
export type FrameHandler = (header: number, body: Buffer) => void;

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
  read(chunk: Buffer): void {
    if (this.#state === 'reading') {
      this.#cut(this.#partial.length === 0 ? chunk : this.#complete(chunk));
      return;
    }
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
  dispose(): void {
    this.#state = 'disposed';
    this.#waiting = undefined;
    this.#partial.take();
    this.#room.hold(0);
  }

  #cut(bytes: Buffer): void {
    let offset = 0;
    while (offset < bytes.length) {
      if (this.#state !== 'reading') {
        this.#wait(bytes.subarray(offset));
        return;
      }
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
      if (end > bytes.length) {
        this.#begin(bytes.subarray(offset), end - offset);
        return;
      }
      offset = end;
      this.#onFrame(header, bytes.subarray(at, end));
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
    this.#onFrame(frame[0] ?? 0, frame.subarray(headerLength(frame)));
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
