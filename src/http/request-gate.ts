import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { WaitingBudget, WaitingPlace } from '../domain/budgets/budget.ts';
import { createFairSlices, inTicks } from '../lib/scheduling/fair-slices.ts';
import type { AnswerBudget } from './answer-budget.ts';
import { type NoPiece, type Piece, RequestCutter } from './request-cutter.ts';
import type { RequestHead } from './request-head.ts';
import { requestLimits } from './request-limits.ts';
import { type BeginSlices, Pipeline, payerOfArrival, payerOfSocket } from './request-pipeline.ts';

/** The budget of what has begun to arrive, and who pays for it. */
interface ArrivalParts extends Pick<AnswerBudget, 'identify' | 'payerOf'> {
  readonly room: WaitingBudget;
}

interface ArrivalOf {
  readonly socket: Socket;
  readonly cutter: RequestCutter;
  readonly pipeline: Pipeline;
  /** Refuses what has begun to arrive. */
  readonly stop: () => void;
}

/** The bytes that have begun to arrive at one gate; those of bodies count where they are read. */
export class Arrival {
  readonly #parts: ArrivalParts;
  readonly #of: ArrivalOf;
  readonly #place: WaitingPlace;
  #isHeld = false;
  #isOver = false;
  #hasMoved = false;
  /** The request that was handed over last, until its payer is asked for. */
  request: IncomingMessage | undefined;

  constructor(parts: ArrivalParts, of: ArrivalOf) {
    this.#parts = parts;
    this.#of = of;
    const payerOf = () => payerOfArrival(of.socket, of.pipeline.answer?.req, parts.payerOf);
    this.#place = parts.room.place({ payerOf, end: () => this.#makeRoom() });
  }

  /** A piece was handed over: whoever drips a body does not get ahead of others by it. */
  move({ head, bytes }: Piece): void {
    const isMuch = bytes.length >= requestLimits.progressBytes;
    this.#hasMoved ||= head !== undefined || this.#of.cutter.isBetween || isMuch;
  }

  /** Counts what there is now. `isHeld`: it waits, and nothing more is read. */
  count(isHeld: boolean): void {
    this.#isHeld = isHeld;
    this.#recount();
    const { request } = this;
    this.request = undefined;
    if (this.#of.cutter.isBetween || !request?.headers.authorization) return;
    const recount = () => {
      this.#hasMoved = true;
      this.#recount();
    };
    void this.#parts.identify(request).then(recount);
  }

  over(): void {
    this.#isOver = true;
    this.#place.hold(0);
  }

  #recount(): void {
    if (this.#hasMoved) this.#place.hold(0);
    this.#hasMoved = false;
    if (!this.#isOver && !this.#place.hold(this.#bytes())) this.#makeRoom();
  }

  /** Memory of what has begun to arrive. */
  #bytes(): number {
    const { rest, isBetween, headBytes } = this.#of.cutter;
    // Of what is held the whole chunk stays.
    const waiting = this.#isHeld
      ? rest.buffer.byteLength + this.#of.socket.readableLength
      : rest.length;
    if (!isBetween) return requestLimits.requestBytes + 2 * headBytes + waiting;
    return this.#isHeld || rest.length === 0 ? waiting : waiting + requestLimits.connectionBytes;
  }

  /** Frees budget for others: answers under way leave first, unless nobody reads them. */
  #makeRoom(): void {
    const { socket, cutter, pipeline, stop } = this.#of;
    const isRefused = cutter.isBetween
      ? !this.#isHeld || socket.writableLength === 0
      : pipeline.answer?.headersSent === false;
    if (isRefused) stop();
    else socket.destroy();
  }
}

/** Why a request is not read to its end. */
export type NotComing = 'too slow' | 'cut off' | 'no room';
type Refused = NotComing | Exclude<NoPiece, 'more' | 'wait'>;
/** An error code of our own: node:http has none for a budget that is used up. */
export const noRoomCode = 'KIPIMO_NO_ROOM';

/** Error codes, as node:http names them. */
const codes: Readonly<Record<Refused, string>> = {
  'too slow': 'ERR_HTTP_REQUEST_TIMEOUT',
  'cut off': 'HPE_INVALID_EOF_STATE',
  'no room': noRoomCode,
  broken: 'HPE_INVALID_HEADER_TOKEN',
  'too large': 'HPE_HEADER_OVERFLOW',
};

/** Refuses a request as if node:http had read it. */
function refuseRequest(server: Server, socket: Socket, why: Refused): void {
  server.emit('clientError', Object.assign(new Error(why), { code: codes[why] }), socket);
}

/** Listeners of node:http on a connection. */
interface NodeListeners {
  readonly data: (bytes: Buffer) => void;
  readonly end: () => void;
}

/** Takes over the listeners that node:http adds when `listen` gives it the connection. */
function takeListeners(socket: Socket, listen: () => void): NodeListeners {
  const before = new Set(socket.listeners('end'));
  listen();
  const data = socket.listeners('data').at(-1) as NodeListeners['data'];
  const end = socket.listeners('end').find((one) => !before.has(one)) as NodeListeners['end'];
  socket.off('data', data);
  socket.off('end', end);
  return { data, end };
}

/** The server, its open gates and the budget of what has begun to arrive at them. */
interface GateParts extends ArrivalParts {
  refuse(socket: Socket, why: Refused): void;
  readonly open: Set<RequestGate>;
  /** Until the server closes. */
  readonly turns: BeginSlices;
}

const ownGate = Symbol('ownGate');
/** node:http's own sockets say so when it wants nothing more to be read. */
interface GatedSocket extends Socket {
  [ownGate]?: RequestGate;
  readonly _paused?: boolean;
}

export const gateOf = (socket: Socket): RequestGate | undefined => (socket as GatedSocket)[ownGate];

/** The answer to the request whose body arrives on the socket now. */
export const answerUnderWay = (socket: Socket): ServerResponse | undefined =>
  gateOf(socket)?.pipeline.answer;

/** Fits an answer of node:http to requests of HTTP/1.0 and to requests without a version. */
function adapt(answer: ServerResponse, { httpVersion }: IncomingMessage, head?: RequestHead): void {
  // Else node:http closes behind an answer without a body, as if its length were not known.
  if (httpVersion === '1.0' && head?.isLast === false) {
    answer.setHeader('connection', 'keep-alive');
  }
  if (head?.isBare === true) leaveHeadOut(answer);
}

/** node:http writes the head of an answer ahead of its first bytes, unless it has done so. */
const leaveHeadOut = (answer: ServerResponse): void =>
  void Object.defineProperty(answer, '_headerSent', { get: () => true, set: () => undefined });

/**
 * The gate before node:http on one connection: reads the head of each request by the grammar, lone
 * line feeds included, and hands over one request after the other. The rest stays in the socket.
 */
class RequestGate {
  readonly #parts: GateParts;
  readonly #socket: GatedSocket;
  readonly #node: NodeListeners;
  readonly #cutter = new RequestCutter();
  readonly pipeline: Pipeline;
  readonly #arrival: Arrival;
  #isHeld = false;
  #isOver = false;
  #hasEnded = false;
  #isEndTold = false;
  #isAdvancing = false;
  #head: RequestHead | undefined;
  /** Since when the head under way is, and when bytes came last, by performance.now(). */
  #since = 0;
  #heardAt = 0;

  /** `listen` gives node:http the connection. */
  constructor(parts: GateParts, socket: Socket, listen: () => void) {
    this.#parts = parts;
    this.#socket = socket;
    this.pipeline = new Pipeline(parts, socket, this.#goOn);
    const { pipeline } = this;
    const stop = () => this.#stop('no room');
    this.#arrival = new Arrival(parts, { socket, pipeline, cutter: this.#cutter, stop });
    this.#node = takeListeners(socket, listen);
    this.#socket[ownGate] = this;
    socket.on('data', this.receive).on('end', this.end);
    socket.on('resume', this.#resumed).on('close', this.#closed);
    parts.open.add(this);
  }

  readonly receive = (bytes: Buffer): void => {
    if (this.#isOver) return;
    this.#heardAt = performance.now();
    if (!this.#cutter.isInHead) this.#since = this.#heardAt;
    this.#cutter.add(bytes);
    this.#advance();
  };

  /** The client sends no more. */
  readonly end = (): void => {
    this.#hasEnded = true;
    this.#advance();
  };

  readonly #resumed = (): void => {
    if (this.#isHeld) this.#socket.pause();
    else if (this.#cutter.rest.length > 0) this.#advance();
  };

  readonly #closed = (): void => {
    this.#isOver = true;
    this.#arrival.over();
    this.#parts.open.delete(this);
  };

  /** Leaves the connection to another protocol: answers the bytes not read yet. */
  release(): Buffer {
    const socket = this.#socket;
    this.#closed();
    socket.off('data', this.receive).off('end', this.end);
    socket.off('resume', this.#resumed).off('close', this.#closed);
    if (this.#hasEnded) socket.destroySoon();
    return this.#cutter.rest;
  }

  /** A request reached node:http. */
  begun(request: IncomingMessage, answer: ServerResponse): void {
    adapt(answer, request, this.#head);
    this.pipeline.add(answer, this.#goOn);
    this.#arrival.request = request;
  }

  /** An answer has left, or the slice of a request has come. */
  readonly #goOn = (): void => {
    const { isBusy, isInTurn } = this.pipeline;
    const isEarly = this.#cutter.isBetween ? isBusy : !isInTurn;
    if (!this.#isHeld || isEarly || this.#socket.destroyed) return;
    this.#isHeld = false;
    if (this.#socket._paused !== true) this.#socket.resume();
    this.#advance();
  };

  /** Hands over what may be, request by request. */
  #advance(): void {
    // Node resumes and ends connections while it is given bytes.
    if (this.#isAdvancing) return;
    this.#isAdvancing = true;
    while (this.#cutter.rest.length > 0 && this.#step());
    this.#isAdvancing = false;
    if (this.#isOver) this.#arrival.over();
    else this.#arrival.count(this.#isHeld);
    if (this.#hasEnded && !this.#isHeld && this.#socket._paused !== true) this.#tellEnd();
  }

  /** Answers whether there may be more to hand over. */
  #step(): boolean {
    const socket = this.#socket;
    if (this.#isOver || socket.destroyed) {
      this.#cutter.drop();
      return false;
    }
    const isPaused = socket._paused === true || (socket.isPaused() && !this.#hasEnded);
    if (this.#isHeld || isPaused) return false;
    const piece = this.#cutter.next(this.pipeline.mayBegin, this.pipeline.mayGoOn);
    if (typeof piece === 'string') return this.#stop(piece);
    this.#head = piece.head ?? this.#head;
    this.#arrival.move(piece);
    // Bytes behind the last request of a connection are never read.
    this.#isOver = !socket.writable || (this.#head?.isLast === true && this.#cutter.isBetween);
    if (socket.writable) this.#node.data(piece.bytes);
    return true;
  }

  /** Answers that nothing more is handed over. */
  #stop(why: NoPiece | NotComing): false {
    if (why === 'more') return false;
    if (why === 'wait') {
      this.#isHeld = true;
      this.#socket.pause();
      return false;
    }
    this.#isOver = true;
    this.#isEndTold = true;
    this.#cutter.drop();
    this.#arrival.over();
    this.#parts.refuse(this.#socket, why);
    return false;
  }

  #tellEnd(): void {
    if (this.#cutter.completeLine()) this.#advance();
    else if (this.#cutter.rest.length > 0) this.#stop('cut off');
    else if (!this.#isEndTold) {
      this.#isEndTold = true;
      this.#node.end();
    }
  }

  /** Ends a head that has taken too long at `now`. */
  sweep(now: number, headersMs: number): void {
    if (!this.#cutter.isInHead || this.#isHeld || this.#isOver) return;
    if (now - this.#since > headersMs) this.#stop('too slow');
    else if (now - this.#heardAt > requestLimits.loneLineMs && this.#cutter.completeLine()) {
      this.#advance();
    }
  }
}

/** node:http, as far as connections are given to it that it did not accept itself. */
export type NodeHttp = ReturnType<typeof createNodeHttp>;

/** `listeners` are node's own, which it calls with a connection that was accepted. */
export function createNodeHttp(
  server: Server,
  options: Pick<GateParts, 'room' | 'identify' | 'payerOf'> & {
    readonly listeners: ReturnType<Server['listeners']>;
    readonly headersMs: number;
    readonly checkMs: number;
  },
) {
  const { listeners, headersMs, checkMs, room, identify, payerOf } = options;
  // Before those who connect, who would otherwise be let in faster than their requests begin.
  const slices = createFairSlices({
    ...{ turnMs: requestLimits.beginMs, later: setImmediate, getOn: inTicks },
  });
  let isClosing = false;
  /** Begun at once when the server closes. */
  const waiting = new Set<() => void>();
  const turns: BeginSlices = {
    enter: (payer) => (isClosing ? undefined : slices.enter(payer)),
    begin(payer, piece) {
      const beginOnce = (): void => {
        if (waiting.delete(beginOnce)) piece();
      };
      waiting.add(beginOnce);
      if (isClosing) beginOnce();
      else slices.begin(payer, beginOnce);
    },
  };
  /** A request will not come any more, or not in time: refused as if node had read it. */
  const refuse = (socket: Socket, why: Refused): void => {
    const piece = (): void => refuseRequest(server, socket, why);
    // Other requests wait for the bytes that this one holds.
    if (why === 'no room') piece();
    else turns.begin(payerOfSocket(socket), piece);
  };
  const parts = { refuse, open: new Set<RequestGate>(), room, identify, payerOf, turns };
  server.prependListener('request', (request: IncomingMessage, answer: ServerResponse) =>
    gateOf(request.socket)?.begun(request, answer),
  );
  const sweep = setInterval(() => {
    const now = performance.now();
    for (const gate of parts.open) gate.sweep(now, headersMs);
  }, checkMs);
  sweep.unref();
  return {
    /** Hands over a connection with the bytes of its next request. `hasEnded`: nothing follows. */
    takeOver(socket: Socket, bytes: Buffer, hasEnded: boolean): void {
      // What comes before its slice stays in the socket, which node does not resume itself.
      socket.pause();
      turns.begin(payerOfSocket(socket), () => {
        if (socket.destroyed) return;
        const gate = new RequestGate(parts, socket, () => {
          for (const listener of listeners) Reflect.apply(listener, server, [socket]);
        });
        socket.resume();
        gate.receive(bytes);
        gate.pipeline.turnIsOver();
        // The end of the connection may have come while it waited.
        if (hasEnded || socket.readableEnded) gate.end();
      });
    },
    refuse,
    close(): void {
      clearInterval(sweep);
      isClosing = true;
      for (const begin of waiting) begin();
      // Node takes a connection whose request has not begun for an idle one.
      for (const { pipeline } of parts.open) pipeline.beginWaiting();
    },
  };
}
