import type { Socket } from 'node:net';
import { payerAt } from '../../domain/budgets/budget.ts';
import { limits } from '../../domain/limits.ts';
import { type AnswerBudget, asker } from '../answer-budget.ts';
import type { Clients, RequestSource } from '../authentication.ts';
import type { NodeHttp, NotComing } from '../request-gate.ts';
import type { ReceivedRequest } from '../route.ts';
import {
  type HotPattern,
  type HotRequest,
  type IntakeParts,
  type KeptRequest,
  RequestIntake,
  readHotRequest,
} from './reader.ts';

/** Answers hot requests with all the bytes of an answer. */
export interface HotTarget {
  /**
   * Calls `done` with the answer, never before it returns; with undefined only of a read, whose
   * answer does not fit: nothing has happened yet.
   */
  answer(call: ReceivedRequest, done: (text: string | undefined) => void): Promise<void>;
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
        this.#intake.keep(bytes.subarray(at), request.end - at, request.head.headers);
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
    void request.line.target.answer(call, (text) => {
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

/** A request that was begun. */
export interface Begun {
  readonly source: RequestSource;
  text: string | undefined;
  /** Frees the bytes reserved while it waits for answers before it; undefined: there were none. */
  readonly release: (() => void) | undefined;
}

/** The answers of one connection, which leave in the order of their requests. */
class AnswerQueue {
  readonly #room: AnswerBudget;
  readonly #clients: Clients;
  readonly #socket: Socket;
  readonly #onLeft: () => void;
  readonly #begun: Begun[] = [];
  #waiting = 0;
  #isFlushing = false;
  #isIdle = false;
  #idleSince = 0;

  /** `onLeft` is called when all answers have left. */
  constructor(
    { room, clients }: { readonly room: AnswerBudget; readonly clients: Clients },
    socket: Socket,
    onLeft: () => void,
  ) {
    this.#room = room;
    this.#clients = clients;
    this.#socket = socket;
    this.#onLeft = onLeft;
  }

  /** Requests that are not answered yet. */
  get due(): number {
    return this.#begun.length;
  }

  /** Whether an answer waits for the client to read: then nothing is read from it. */
  get isUnread(): boolean {
    return this.#socket.writableLength > 0;
  }

  /** A place for the answer to a request; undefined: too many wait, or the budget is used up. */
  begin(source: RequestSource): Begun | undefined {
    const isFirst = this.#begun.length === 0;
    const release = isFirst ? undefined : this.#wait(source);
    if (!isFirst && release === undefined) return undefined;
    const begun = { source, text: undefined, release };
    this.#begun.push(begun);
    return begun;
  }

  /** Reserves bytes for a request that came before the answers to those before it had left. */
  #wait(source: RequestSource): (() => void) | undefined {
    if (this.#waiting >= limits.pipelinedRequestsMax) return undefined;
    const payer = payerAt(this.#clients.of(source).address);
    const release = this.#room.reserve(this.#socket, payer, limits.pipelinedAnswerBytes);
    if (release === undefined) return undefined;
    this.#waiting += 1;
    return () => {
      this.#waiting -= 1;
      release();
    };
  }

  /**
   * How long no answer has left, in milliseconds at `now` of `performance.now()`: since the first
   * call after the last answer, as each answer would have to read the clock otherwise.
   */
  idleMs(now: number): number {
    if (!this.#isIdle) this.#idleSince = now;
    this.#isIdle = true;
    return now - this.#idleSince;
  }

  /** Takes back the request that was begun last. */
  drop(): void {
    this.#begun.pop()?.release?.();
  }

  answer(begun: Begun, text: string): void {
    begun.text = text;
    if (this.#begun.length === 1) this.#flush();
    else if (!this.#isFlushing) {
      // Pushes that one commit stored are answered in one write.
      this.#isFlushing = true;
      process.nextTick(() => {
        this.#isFlushing = false;
        this.#flush();
      });
    }
  }

  #flush(): void {
    let answers = '';
    let source: RequestSource | undefined;
    for (let first = this.#begun[0]; first?.text !== undefined; first = this.#begun[0]) {
      answers += first.text;
      source = first.source;
      first.release?.();
      this.#begun.shift();
    }
    const socket = this.#socket;
    if (source === undefined || !socket.writable) return;
    socket.write(answers, 'latin1');
    this.#isIdle = false;
    if (this.isUnread) this.#waitForReader(source, answers.length);
    else if (this.#begun.length === 0) this.#onLeft();
  }

  /** Charges the sender of the request for bytes that the client does not read. */
  #waitForReader(source: RequestSource, bytes: number): void {
    const socket = this.#socket;
    const release = this.#room.reserve(socket, this.#room.payerOf(source), bytes);
    if (release === undefined) {
      socket.destroy();
      return;
    }
    socket.pause();
    // Nothing is written: the callback runs when all before it has left, or never will.
    socket.write('', () => {
      release();
      if (this.#begun.length === 0 && !this.isUnread && !socket.destroyed) this.#onLeft();
    });
  }

  /** The connection is gone. */
  close(): void {
    for (const { release } of this.#begun) release?.();
  }
}
