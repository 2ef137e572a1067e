import type { Socket } from 'node:net';
import {
  type Payer,
  payerAt,
  type WaitingBudget,
  type WaitingPlace,
} from '../../domain/budgets/budget.ts';
import type { FairSlices } from '../../lib/scheduling/fair-slices.ts';
import { type AnswerBudget, asker } from '../answer-budget.ts';
import type { Clients, RequestSource } from '../authentication.ts';
import { type NodeHttp, type NotComing, payerOfSocket } from '../request-gate.ts';
import type { ReceivedRequest } from '../route.ts';
import { AnswerQueue } from './answer-queue.ts';
import { type HotPattern, type HotRequest, type KeptRequest, readHotRequest } from './reader.ts';

/** Answers hot requests with all the bytes of an answer. */
export interface HotTarget {
  /** undefined: only a read, whose answer does not fit; nothing has happened yet. */
  answer(call: ReceivedRequest): Promise<string | undefined>;
}

/** State and services common to the connections of the fast path. */
export interface FastPathParts extends IntakeParts {
  readonly node: NodeHttp;
  readonly lines: readonly HotPattern<HotTarget>[];
  readonly requestMs: number;
  readonly idleMs: number;
  /** The service ends: what comes now is for node to refuse. */
  isClosing: boolean;
  readonly open: Set<FastConnection>;
}

function callOf(request: HotRequest<HotTarget>, bytes: Buffer, socket: Socket): ReceivedRequest {
  const { line, params, url, bodyAt, end } = request;
  const { headers } = request.head;
  const body = line.hasBody ? bytes.subarray(bodyAt, end) : undefined;
  // With its place for who asked: a property that comes later would need memory of its own.
  const raw = { socket, headers, [asker]: undefined };
  return { headers, params, query: noQuery, body, url, raw };
}

const noQuery = {};
const nothing = Buffer.alloc(0);

/** A connection on the fast path, until it is handed over or closed. */
export class FastConnection {
  readonly #parts: FastPathParts;
  readonly #socket: Socket;
  readonly #answers: AnswerQueue;
  readonly #intake: RequestIntake;
  #latest: KeptRequest<HotTarget> | undefined;
  /** Nothing is read: a read is under way, or it is leaving. */
  #isHeld = false;
  /** The exit taken when all answers have left; a refusal is owed to half a request. */
  #exit: 'handed over' | NotComing | undefined;
  /** Bytes that node is to read first. */
  #left: Buffer = nothing;
  /** The client sends no more. */
  #hasEnded = false;

  constructor(parts: FastPathParts, socket: Socket) {
    this.#parts = parts;
    this.#socket = socket;
    this.#intake = new RequestIntake(parts, socket, this);
    this.#answers = new AnswerQueue(parts, socket, () => this.#goOn());
    socket.on('data', this.receive);
    socket.on('end', this.#ended);
    socket.on('close', this.#closed);
    parts.open.add(this);
  }

  /** Begins the requests in the bytes, at once or in their slice. */
  readonly receive = (chunk: Buffer): void => {
    const { isWaiting } = this.#intake;
    if (!isWaiting && !this.#isHeld && !this.#answers.isUnread) {
      this.#intake.take(chunk);
      return;
    }
    this.#isHeld ||= !isWaiting;
    this.#intake.putBack(chunk);
  };

  flowOn(): void {
    if (!this.#isHeld) this.#socket.resume();
  }

  /**
   * Begins all the requests in the bytes; hands over from the first that is not a hot one.
   * `isUnderWay`: the first of them came before the service began to end, if it does.
   */
  read(bytes: Buffer, isUnderWay: boolean): void {
    const { lines, isClosing } = this.#parts;
    let at = 0;
    while (at < bytes.length && !this.#socket.destroyed) {
      const isTooLate = isClosing && (at > 0 || !isUnderWay);
      const request = isTooLate ? undefined : readHotRequest(bytes, at, lines, this.#latest);
      // A read has the connection for itself: then it can still be handed over.
      const isAlone = this.#answers.due === 0 && request?.end === bytes.length;
      if (request === undefined || !(request.line.hasBody || isAlone)) {
        this.leave('handed over', bytes.subarray(at));
        return;
      }
      this.#latest = request.kept;
      if (request.end > bytes.length) {
        this.#intake.keep(bytes.subarray(at), request.end - at);
        return;
      }
      if (!this.#begin(request, bytes, at)) return;
      at = request.end;
    }
  }

  /** false: the budget is used up; it waits in the socket until those before it are answered. */
  #begin(request: HotRequest<HotTarget>, bytes: Buffer, at: number): boolean {
    const call = callOf(request, bytes, this.#socket);
    const begun = this.#answers.begin(call.raw);
    if (begun === undefined) {
      this.#isHeld = true;
      this.#intake.putBack(bytes.subarray(at));
      return false;
    }
    this.#intake.source = call.raw;
    if (!request.line.hasBody) this.#isHeld = true;
    void request.line.target.answer(call).then((text) => {
      if (text !== undefined) return this.#answers.answer(begun, text);
      // A read whose answer does not fit the fast path: node handles it again.
      this.#answers.drop();
      if (this.#socket.writable) this.leave('handed over', bytes.subarray(at, request.end));
    });
    return true;
  }

  /** When all answers have left: to node with these bytes and all that follow, or refused. */
  leave(exit: 'handed over' | NotComing, bytes: Buffer = nothing): void {
    this.#exit = exit;
    this.#left = bytes;
    this.#isHeld = true;
    this.#intake.end(bytes);
    this.#socket.pause();
    this.#goOn();
  }

  /** Reads on or takes the exit, when all answers have left. */
  #goOn(): void {
    const socket = this.#socket;
    if (this.#answers.due > 0 || this.#answers.isUnread || socket.destroyed) return;
    if (this.#exit === undefined) {
      if (this.#intake.isWaiting) return;
      if (this.#parts.isClosing) this.close();
      if (this.#hasEnded) socket.end();
      this.#isHeld = false;
      if (socket.isPaused()) socket.resume();
      return;
    }
    this.#letGo();
    if (this.#exit !== 'handed over') this.#parts.node.refuse(socket, this.#exit);
    else this.#parts.node.takeOver(socket, this.#left, this.#hasEnded);
  }

  #letGo(): void {
    const socket = this.#socket;
    socket.off('data', this.receive);
    socket.off('end', this.#ended);
    socket.off('close', this.#closed);
    this.#intake.end(nothing);
    this.#parts.open.delete(this);
  }

  readonly #ended = (): void => {
    this.#hasEnded = true;
    if (this.#intake.partialSince === undefined) this.#goOn();
    else this.leave('cut off');
  };

  readonly #closed = (): void => {
    this.#parts.open.delete(this);
    this.#intake.end(nothing);
    this.#answers.close();
  };

  /** Ends a request or a pause that has taken too long. */
  sweep(now: number): void {
    const { requestMs, idleMs } = this.#parts;
    const { isUnderWay, partialSince } = this.#intake;
    if (partialSince !== undefined && now - partialSince > requestMs) this.leave('too slow');
    if (isUnderWay || this.#isHeld || this.#answers.due > 0 || this.#answers.isUnread) return;
    if (this.#answers.idleMs(now) > idleMs) this.#socket.destroy();
  }

  /** Ends it, unless a request is under way: then when that is answered. */
  close(): void {
    if (this.#intake.isUnderWay || this.#answers.due > 0) return;
    if (this.#exit === undefined) this.#socket.destroySoon();
  }
}

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

/** The services that decide which payer is next. */
interface IntakeParts {
  readonly room: AnswerBudget;
  readonly waiting: WaitingBudget;
  readonly clients: Clients;
  readonly turns: FairSlices;
}

/**
 * Chunks of one connection on their way to the reader of requests: what is cut is put together, and
 * a client that sends many at once waits for a slice of its payer.
 */
class RequestIntake {
  readonly #parts: IntakeParts;
  readonly #socket: Socket;
  readonly #owner: FastConnection;
  readonly #place: WaitingPlace;
  #part: PartialRequest | undefined;
  #isWaiting = false;
  #hasTurn = false;
  /** Some of its bytes count. */
  #hasPlace = false;
  #hasEnded = false;
  /** The latest request, whose sender pays for the bytes that wait. */
  source: RequestSource | undefined;

  constructor(parts: IntakeParts, socket: Socket, owner: FastConnection) {
    this.#parts = parts;
    this.#socket = socket;
    this.#owner = owner;
    this.#place = parts.waiting.place({
      payerOf: () => payerOfSocket(socket),
      // Bytes left to node are refused behind the answers under way, unless nobody reads these.
      end: () =>
        this.#hasEnded && socket.writableLength === 0 ? owner.leave('no room') : socket.destroy(),
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
      // The slice is over, and its bytes are read.
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
