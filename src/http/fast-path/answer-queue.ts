import type { Socket } from 'node:net';
import { payerAt } from '../../domain/budgets/budget.ts';
import { limits } from '../../domain/limits.ts';
import type { AnswerBudget } from '../answer-budget.ts';
import type { Clients, RequestSource } from '../authentication.ts';

/** A request that was begun. */
export interface Begun {
  readonly source: RequestSource;
  text: string | undefined;
  /** Frees the bytes reserved while it waits for answers before it; undefined: there were none. */
  readonly release: (() => void) | undefined;
}

/** The answers of one connection, which leave in the order of their requests. */
export class AnswerQueue {
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
