import type { Socket } from 'node:net';
import { type Payer, payerAt } from '../../domain/budgets/payer.ts';
import type { WaitingBudget, WaitingPlace } from '../../domain/budgets/waiting-budget.ts';
import type { FairSlices } from '../../lib/scheduling/fair-slices.ts';
import type { AnswerBudget } from '../answer-budget.ts';
import type { Clients, RequestSource } from '../clients.ts';
import { payerOfSocket } from '../request-gate.ts';

/**
 * A request whose body is under way. It takes the bytes of the whole request and no more, in
 * however many pieces they come.
 */
class PartialRequest {
  readonly since = performance.now();
  readonly #bytes: Buffer;
  #length: number;

  constructor(first: Buffer, wholeLength: number) {
    this.#bytes = Buffer.allocUnsafeSlow(wholeLength);
    this.#length = first.copy(this.#bytes);
  }

  /** The request, with what follows it, once it is whole. */
  add(piece: Buffer): Buffer | undefined {
    const taken = piece.copy(this.#bytes, this.#length);
    this.#length += taken;
    if (this.#length < this.#bytes.length) return undefined;
    return taken === piece.length
      ? this.#bytes
      : Buffer.concat([this.#bytes, piece.subarray(taken)]);
  }
}

/** Shorter chunks hold few requests: not worth reading the clock. */
const untimedBytesMax = 1_024;

const nothing = Buffer.alloc(0);

/** The services that decide which payer is next. */
export interface IntakeParts {
  readonly room: AnswerBudget;
  readonly waiting: WaitingBudget;
  readonly clients: Clients;
  readonly turns: FairSlices;
}

/** The connection that an intake is of. */
export interface IntakeOwner {
  /** `isUnderWay`: the first request in the bytes began in an earlier chunk. */
  read(bytes: Buffer, isUnderWay: boolean): void;
  /** A slice is over, and its bytes are read. */
  flowOn(): void;
}

/**
 * Chunks of one connection on their way to the reader of requests: what is cut is put together, and
 * a client that sends many at once waits for a slice of its payer.
 */
export class RequestIntake {
  readonly #parts: IntakeParts;
  readonly #socket: Socket;
  readonly #owner: IntakeOwner;
  readonly #place: WaitingPlace;
  #part: PartialRequest | undefined;
  #isWaiting = false;
  #hasTurn = false;
  /** Some of its bytes count. */
  #hasPlace = false;
  #hasEnded = false;
  /** The latest request, whose sender pays for the bytes that wait. */
  source: RequestSource | undefined;

  constructor(parts: IntakeParts, socket: Socket, owner: IntakeOwner) {
    this.#parts = parts;
    this.#socket = socket;
    this.#owner = owner;
    this.#place = parts.waiting.place({
      payerOf: () => payerOfSocket(socket),
      end: () => socket.destroy(),
    });
  }

  /** Some requests wait for their slice: bytes that arrive behind them are not read. */
  get isWaiting(): boolean {
    return this.#isWaiting;
  }

  get isUnderWay(): boolean {
    return this.#isWaiting || this.#part !== undefined;
  }

  /** Since when a request is under way whose body is not whole, by performance.now(), in ms. */
  get partialSince(): number | undefined {
    return this.#part?.since;
  }

  /** Hands a chunk to the reader, at once or in its slice. */
  take(chunk: Buffer): void {
    if (this.#hasPlace) this.#count(nothing, 0);
    if (this.#hasTurn) {
      this.#hand(chunk);
      return;
    }
    const turn =
      chunk.length > untimedBytesMax ? this.#parts.turns.enter(this.#payer()) : undefined;
    if (turn === undefined) this.#hand(chunk);
    else this.#wait(turn, chunk);
  }

  /** Keeps the beginning of a request of so many bytes until the rest has come. */
  keep(first: Buffer, wholeLength: number): void {
    this.#part = new PartialRequest(first, wholeLength);
  }

  /** Puts bytes back for the next reader: nothing more comes before they are read. */
  putBack(bytes: Buffer): void {
    this.#socket.pause();
    this.#socket.unshift(bytes);
    this.#count(bytes, this.#socket.readableLength - bytes.length);
  }

  /** Ends reading here: bytes that wait are dropped, but for those `left` to node. */
  end(left: Buffer): void {
    this.#part = undefined;
    this.#count(left, this.#socket.readableLength);
    this.#hasEnded = true;
  }

  /** Counts bytes that wait, and so many behind them; their whole chunk stays in memory. */
  #count(bytes: Buffer, behind: number): void {
    const held = bytes.length === 0 ? 0 : bytes.buffer.byteLength + behind;
    this.#hasPlace = held > 0;
    if (!this.#place.hold(held)) this.#socket.destroy();
  }

  /** Begins requests in their slice: many came at once, on other connections as well. */
  #wait(turn: Promise<void>, chunk: Buffer): void {
    this.#isWaiting = true;
    // In the socket: its end is not emitted before they are read.
    this.putBack(chunk);
    void turn.then(() => {
      this.#isWaiting = false;
      if (this.#socket.destroyed || this.#hasEnded) return;
      // The data event hands over this chunk alone; later bytes stay in the socket.
      this.#hasTurn = true;
      this.#socket.read(chunk.length);
      this.#hasTurn = false;
      this.#owner.flowOn();
    });
  }

  #payer(): Payer {
    const { room, clients } = this.#parts;
    if (this.source !== undefined) return room.payerOf(this.source);
    return payerAt(clients.of({ socket: this.#socket, headers: {} }).address);
  }

  #hand(chunk: Buffer): void {
    if (this.#part === undefined) {
      this.#owner.read(chunk, false);
      return;
    }
    const whole = this.#part.add(chunk);
    if (whole === undefined) return;
    this.#part = undefined;
    this.#owner.read(whole, true);
  }
}
