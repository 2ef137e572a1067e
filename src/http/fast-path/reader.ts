import type { IncomingHttpHeaders } from 'node:http';
import type { Socket } from 'node:net';
import type { WaitingBudget, WaitingPlace } from '../../domain/budgets/budget.ts';
import { isGuestPayer, type Payer, payerAt } from '../../domain/budgets/budget.ts';
import { limits } from '../../domain/limits.ts';
import type { FairSlices } from '../../lib/scheduling/fair-slices.ts';
import type { AnswerBudget } from '../answer-budget.ts';
import type { Clients, RequestSource } from '../authentication.ts';
import type { NotComing } from '../request-gate.ts';
import { requestLimits } from '../request-limits.ts';
import { payerOfArrival } from '../request-pipeline.ts';

/** The request line of a hot request, and the names of what its path holds. */
export interface HotPattern<Target> {
  readonly pattern: RegExp;
  readonly paramNames: readonly string[];
  readonly hasBody: boolean;
  readonly target: Target;
}

/** The header fields of a request, as they were written and as they were read. */
export interface HotHead {
  /** The fields with the empty line behind them: the same text is read once. */
  readonly text: string;
  readonly headers: IncomingHttpHeaders;
  /** 0: none was announced. */
  readonly bodyBytes: number;
  readonly hasAcceptEncoding: boolean;
}

/** The parts of its latest requests that a connection keeps. */
export interface KeptRequest<Target> {
  readonly line: HotPattern<Target>;
  readonly head: HotHead;
  /** The head before it, if it is short: bodies of two lengths alternate, as of 20 and 20.5. */
  readonly before: HotHead | undefined;
}

/** A request whose head is whole and plain; its body may still be under way. */
export interface HotRequest<Target> {
  readonly line: HotPattern<Target>;
  readonly url: string;
  readonly params: Readonly<Record<string, string>>;
  readonly head: HotHead;
  readonly kept: KeptRequest<Target>;
  /** Where its body begins in the bytes, and where the next request does. */
  readonly bodyAt: number;
  readonly end: number;
}

/** An id that stands for itself in a path: nothing to decode, and no step of a relative path. */
const plainId = '([\\w~:-][\\w.~:-]{0,255})';

/** `path` is that of a route, with :parameters, below `prefix`. */
export function hotPattern<Target>(
  method: 'GET' | 'POST',
  path: string,
  target: Target,
): HotPattern<Target> {
  const pattern = path.replaceAll(/:\w+/g, plainId);
  return {
    pattern: new RegExp(`^${method} (${pattern}) HTTP/1\\.1\r\n`),
    paramNames: [...path.matchAll(/:(\w+)/g)].map(([, name = '']) => name),
    hasBody: method === 'POST',
    target,
  };
}

/**
 * Reads one request at `at`. Strictly: undefined is whatever is not exactly a hot request with a
 * whole and plain head, be it unusual, wrong or cut off. `latest` is what was kept of the request
 * before on the connection: its line is tried first, and its last two heads are not read again.
 */
export function readHotRequest<Target>(
  bytes: Buffer,
  at: number,
  lines: readonly HotPattern<Target>[],
  latest: KeptRequest<Target> | undefined,
): HotRequest<Target> | undefined {
  const text = bytes.toString('latin1', at, Math.min(bytes.length, at + limits.shortHeadBytesMax));
  let line = latest?.line;
  let found = line?.pattern.exec(text) ?? null;
  for (let next = 0; found === null; next += 1) {
    line = lines[next];
    if (line === undefined) return undefined;
    found = line.pattern.exec(text);
  }
  if (line === undefined) return undefined;
  const fieldsAt = found[0].length;
  const head = keptHead(latest, text, fieldsAt) ?? readHead(bytes, at, text, fieldsAt);
  if (head === undefined || !fits(head, line)) return undefined;
  const isLatest = head === latest?.head;
  const bodyAt = at + fieldsAt + head.text.length;
  return {
    line,
    head,
    kept:
      isLatest && latest.line === line
        ? latest
        : { line, head, before: isLatest ? latest.before : shortHead(latest?.head) },
    bodyAt,
    url: found[1] ?? '',
    params: paramsOf(line, found),
    end: bodyAt + head.bodyBytes,
  };
}

function keptHead(latest: KeptRequest<unknown> | undefined, text: string, at: number) {
  if (latest === undefined || text.startsWith(latest.head.text, at)) return latest?.head;
  const { before } = latest;
  return before !== undefined && text.startsWith(before.text, at) ? before : undefined;
}

/** The head, if it may be kept beside another. */
const shortHead = (head: HotHead | undefined): HotHead | undefined =>
  (head?.text.length ?? 0) <= requestLimits.keptFieldsBytesMax ? head : undefined;

function fits(
  { bodyBytes, hasAcceptEncoding }: HotHead,
  { hasBody }: HotPattern<unknown>,
): boolean {
  // Answers to pushes are never compressed.
  return hasBody ? bodyBytes > 0 : bodyBytes === 0 && !hasAcceptEncoding;
}

function paramsOf(
  { paramNames }: HotPattern<unknown>,
  found: RegExpExecArray,
): Readonly<Record<string, string>> {
  const params: Record<string, string> = {};
  for (let at = 0; at < paramNames.length; at += 1) {
    params[paramNames[at] as string] = found[at + 2] ?? '';
  }
  return params;
}

/** A header field: a name, a value with single spaces inside, and no other white space. */
const field = /([A-Za-z][A-Za-z\d-]*): ?([\x21-\x7e]+(?: [\x21-\x7e]+)*)\r\n/y;

/** Fields that say nothing of how the bytes on the connection are to be understood. */
const harmless: ReadonlySet<string> = new Set([
  'host',
  'authorization',
  'content-type',
  'content-length',
  'connection',
  'accept',
  'accept-charset',
  'accept-encoding',
  'accept-language',
  'cache-control',
  'date',
  'forwarded',
  'from',
  'kipimo-import',
  'pragma',
  'priority',
  'referer',
  'sec-fetch-dest',
  'sec-fetch-mode',
  'sec-fetch-site',
  'traceparent',
  'tracestate',
  'user-agent',
  'via',
  'x-correlation-id',
  'x-forwarded-for',
  'x-forwarded-host',
  'x-forwarded-port',
  'x-forwarded-proto',
  'x-forwarded-server',
  'x-real-ip',
  'x-request-id',
]);

const usualType = /^(?:application\/json|text\/plain)(?:; ?charset=(?:utf-8|UTF-8))?$|^text\/csv$/;

/** undefined: a field is unusual, written oddly, there twice, or not all of them are there. */
function readHead(bytes: Buffer, from: number, request: string, at: number): HotHead | undefined {
  const headers = new Map<string, string>();
  const end = request.indexOf('\r\n\r\n', at);
  if (end < 0) return undefined;
  // A text of its own: parts of the request would keep all of it in memory.
  const text = bytes.toString('latin1', from + at, from + end + 4);
  let next = 0;
  while (next < text.length - 2) {
    field.lastIndex = next;
    const [, name = '', value = ''] = field.exec(text) ?? [];
    const key = name.toLowerCase();
    if (!harmless.has(key) || headers.has(key)) return undefined;
    headers.set(key, value);
    next = field.lastIndex;
  }
  const length = headers.get('content-length');
  const type = headers.get('content-type');
  const connection = headers.get('connection') ?? 'keep-alive';
  if (
    !headers.has('host') ||
    (length !== undefined && !/^[1-9]\d{0,5}$/.test(length)) ||
    Number(length ?? 0) > limits.freeBodyBytes ||
    (type !== undefined && !usualType.test(type)) ||
    connection.toLowerCase() !== 'keep-alive'
  ) {
    return undefined;
  }
  return {
    text,
    headers: Object.fromEntries(headers),
    bodyBytes: Number(length ?? 0),
    hasAcceptEncoding: headers.has('accept-encoding'),
  };
}

const nothing = Buffer.alloc(0);

/** A request whose body is under way: takes its bytes and no more, in any number of pieces. */
class PartialRequest {
  readonly since = performance.now();
  readonly #bytes: Buffer;
  #length: number;

  constructor(first: Buffer, wholeLength: number) {
    this.#bytes = Buffer.allocUnsafeSlow(wholeLength);
    this.#length = first.copy(this.#bytes);
  }

  /** Memory of the request, and of its connection. */
  get held(): number {
    return this.#bytes.length + requestLimits.connectionBytes;
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
export interface IntakeParts {
  readonly room: AnswerBudget;
  readonly waiting: WaitingBudget;
  readonly clients: Clients;
  readonly turns: FairSlices;
}

/** A connection as its intake knows it. */
interface RequestOwner {
  read(bytes: Buffer, isUnderWay: boolean): void;
  flowOn(): void;
  leave(exit: NotComing): void;
}

/**
 * Chunks of one connection on their way to the reader of requests: what is cut is put together, and
 * a client that sends many at once waits for a slice of its payer.
 */
export class RequestIntake {
  readonly #parts: IntakeParts;
  readonly #socket: Socket;
  readonly #owner: RequestOwner;
  readonly #place: WaitingPlace;
  #part: PartialRequest | undefined;
  #isWaiting = false;
  #hasTurn = false;
  /** Some of its bytes count. */
  #hasPlace = false;
  #hasEnded = false;
  /** The latest request, whose sender pays for the bytes that wait. */
  source: RequestSource | undefined;

  constructor(parts: IntakeParts, socket: Socket, owner: RequestOwner) {
    this.#parts = parts;
    this.#socket = socket;
    this.#owner = owner;
    this.#place = parts.waiting.place({
      payerOf: () => this.#payerOfPlace(),
      // A request that is not whole, or left to node, is refused behind answers that are read.
      end: () => {
        const isRefused = this.#hasEnded || this.#part !== undefined;
        if (isRefused && socket.writableLength === 0) owner.leave('no room');
        else socket.destroy();
      },
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
    if (this.#hasPlace && this.#part === undefined) this.#count(nothing, 0);
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
  keep(first: Buffer, wholeLength: number, headers: RequestSource['headers']): void {
    const source = { socket: this.#socket, headers };
    const part = new PartialRequest(first, wholeLength);
    [this.source, this.#part] = [source, part];
    this.#count(nothing, 0);
    if (headers.authorization === undefined || !isGuestPayer(this.#payerOfPlace())) return;
    void this.#parts.room.identify(source).then(() => {
      if (this.#part !== part || this.#socket.destroyed) return;
      this.#place.hold(0);
      this.#count(nothing, 0);
    });
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
    const waiting = bytes.length === 0 ? 0 : bytes.buffer.byteLength + behind;
    const held = waiting + (this.#part?.held ?? 0);
    this.#hasPlace = held > 0;
    if (this.#place.hold(held)) return;
    if (this.#part === undefined) this.#socket.destroy();
    else this.#owner.leave('no room');
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

  #payerOfPlace(): Payer {
    return payerOfArrival(this.#socket, this.source, this.#parts.room.payerOf);
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
    if (whole !== undefined) this.#part = undefined;
    this.#count(nothing, 0);
    if (whole !== undefined) this.#owner.read(whole, true);
  }
}
