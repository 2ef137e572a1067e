import type { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import type { WaitingBudget, WaitingPlace } from '../domain/budgets/budget.ts';
import type { AnswerBudget } from './answer-budget.ts';
import type { Piece, RequestCutter } from './request-cutter.ts';
import { requestLimits } from './request-limits.ts';
import { type Pipeline, payerOfArrival } from './request-pipeline.ts';

/** The budget of what has begun to arrive, and who pays for it. */
export interface ArrivalParts extends Pick<AnswerBudget, 'identify' | 'payerOf'> {
  readonly room: WaitingBudget;
}

interface ArrivalOf {
  readonly socket: Socket;
  readonly cutter: RequestCutter;
  readonly pipeline: Pipeline;
  /** Refuses what has begun to arrive. */
  readonly stop: () => void;
}

/** What has begun to arrive at one gate, and counts; the bytes of bodies do where they are read. */
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
