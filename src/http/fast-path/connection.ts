import type { IncomingHttpHeaders } from 'node:http';
import type { Socket } from 'node:net';
import { asker } from '../answer-budget.ts';
import type { RequestSource } from '../clients.ts';
import type { NotComing } from '../request-gate.ts';
import { AnswerQueue } from './answer-queue.ts';
import type { NodeHttp } from './hand-over.ts';
import { type HotPattern, type HotRequest, type KeptRequest, readHotRequest } from './reader.ts';
import { type IntakeOwner, type IntakeParts, RequestIntake } from './request-intake.ts';

/** A hot request, as its route reads it. */
export interface HotCall {
  readonly headers: IncomingHttpHeaders;
  readonly params: Readonly<Record<string, string>>;
  readonly query: object;
  readonly body: Buffer | undefined;
  readonly url: string;
  readonly raw: RequestSource;
}

/** Answers hot requests with all the bytes of an answer. */
export interface HotTarget {
  /** undefined: only a read, whose answer does not fit; nothing has happened yet. */
  answer(call: HotCall): Promise<string | undefined>;
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

function callOf(request: HotRequest<HotTarget>, bytes: Buffer, socket: Socket): HotCall {
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
export class FastConnection implements IntakeOwner {
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
        this.#leave('handed over', bytes.subarray(at));
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
      if (this.#socket.writable) this.#leave('handed over', bytes.subarray(at, request.end));
    });
    return true;
  }

  /** When all answers have left: to node with these bytes and all that follow, or refused. */
  #leave(exit: 'handed over' | NotComing, bytes: Buffer = nothing): void {
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
    else this.#leave('cut off');
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
    if (partialSince !== undefined && now - partialSince > requestMs) this.#leave('too slow');
    if (isUnderWay || this.#isHeld || this.#answers.due > 0 || this.#answers.isUnread) return;
    if (this.#answers.idleMs(now) > idleMs) this.#socket.destroy();
  }

  /** Ends it, unless a request is under way: then when that is answered. */
  close(): void {
    if (this.#intake.isUnderWay || this.#answers.due > 0) return;
    if (this.#exit === undefined) this.#socket.destroySoon();
  }
}
