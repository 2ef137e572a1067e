import type { ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { isPayer, type Payer, payerAt, proxyPayers } from '../domain/budgets/budget.ts';
import { payerOfConnection } from '../lib/connection-guard.ts';
import type { FairSlices } from '../lib/scheduling/fair-slices.ts';
import type { RequestSource } from './authentication.ts';

/** The payer of bytes that wait on a connection: an account as soon as it has logged in. */
export function payerOfSocket(socket: Socket): Payer {
  const payer = payerOfConnection(socket) ?? '';
  return isPayer(payer) ? payer : payerAt(socket.remoteAddress ?? '');
}

/** The payer of a request: behind a proxy whoever `payerOf` finds, else that of the connection. */
export function payerOfArrival(
  socket: Socket,
  request: RequestSource | undefined,
  payerOf: (request: RequestSource) => Payer,
): Payer {
  const payer = payerOfSocket(socket);
  return request !== undefined && payer.startsWith(proxyPayers) ? payerOf(request) : payer;
}

/** Requests that came at once, on many connections, begin in these. */
export type BeginSlices = Pick<FairSlices, 'enter' | 'begin'>;

interface PipelineParts {
  readonly turns: BeginSlices;
  /** Finds the client behind a proxy: its body goes on in slices of its own. */
  readonly payerOf: (request: RequestSource) => Payer;
}

/**
 * When the next request of a connection may begin: after the answer to the one before it, in a
 * slice of the event loop. Node would keep objects of each, all to be ended with their connection.
 */
export class Pipeline {
  readonly #parts: PipelineParts;
  readonly #socket: Socket;
  readonly #onTurn: () => void;
  /** The answer under way; it holds all of the head of its request. */
  answer: ServerResponse | undefined;
  #isWaiting = false;
  /** The first request begins in the slice in which its connection was taken over. */
  #hasItsTurn = true;

  /** `onTurn` is called in the slice of a request that had to wait for it. */
  constructor(parts: PipelineParts, socket: Socket, onTurn: () => void) {
    this.#parts = parts;
    this.#socket = socket;
    this.#onTurn = onTurn;
  }

  get isBusy(): boolean {
    return this.#isWaiting || this.answer !== undefined;
  }

  readonly mayBegin = (): boolean => !this.isBusy && this.#hasTurn();
  /** Whether a body of many chunks may go on now. */
  readonly mayGoOn = (): boolean => this.isInTurn && this.#hasTurn();

  /** Whether no slice is waited for. */
  get isInTurn(): boolean {
    return !this.#isWaiting;
  }

  /** Answers whether it may begin or go on at once; else it waits for its slice. */
  #hasTurn(): boolean {
    if (this.#hasItsTurn) {
      this.#hasItsTurn = false;
      return true;
    }
    const { turns, payerOf } = this.#parts;
    const turn = turns.enter(payerOfArrival(this.#socket, this.answer?.req, payerOf));
    if (turn === undefined) return true;
    this.#isWaiting = true;
    void turn.then(() => this.beginWaiting());
    return false;
  }

  /** Lets the request begin that waits for its slice, if there is one. */
  beginWaiting(): void {
    if (!this.#isWaiting) return;
    this.#isWaiting = false;
    this.#hasItsTurn = true;
    this.#onTurn();
    this.#hasItsTurn = false;
  }

  /** The slice in which its connection was taken over has ended. */
  turnIsOver(): void {
    this.#hasItsTurn = false;
  }

  add(answer: ServerResponse, onLeft: () => void): void {
    this.answer = answer;
    answer.once('close', () => {
      this.answer = undefined;
      onLeft();
    });
  }
}
