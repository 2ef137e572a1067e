import type { Payer } from '../../domain/budgets/budget.ts';
import type { Message } from '../../domain/messaging/message.ts';
import type { PublishOutcome } from '../broker.ts';
import type { Journal } from './journal.ts';

/** A publish that is not answered yet. */
export interface UnansweredPublish {
  readonly packetId: number;
  readonly qos: number;
  /** Of the budget of publishes under way. */
  readonly bytes: number;
  /** The message to hand on; undefined: a repetition or a refused one, which is only answered. */
  readonly message: Message | undefined;
  readonly isRepetition: boolean;
  outcome: PublishOutcome | undefined;
  /** The reason code of its answer. */
  code: number;
}

const answeredKeptMax = 32;

interface Steps {
  readonly journal: Journal;
  /** The payer of what is published. */
  readonly payer: Payer;
  /** Whether other payers come first: `advance` is called in this one's next slice. */
  readonly mustWait: () => boolean;
  /** Hands it on: its outcome is known, and those before it have been handed on. */
  readonly finish: (publish: UnansweredPublish, outcome: PublishOutcome) => void;
  /** Answers it: what it caused is durable, and those before it have been answered. */
  readonly answer: (publish: UnansweredPublish) => void;
  /** Some have been answered. */
  readonly answered: () => void;
}

/**
 * The publishes of one connection in the order of their arrival. Each is handed on and answered in
 * that order [MQTT-4.6.0-5], while many are under way at once.
 */
export class PublishOrder {
  readonly #steps: Steps;
  #list: UnansweredPublish[] = [];
  /** Publishes before the list are answered and forgotten; all counts start at the first one. */
  #forgotten = 0;
  #answered = 0;
  #durable = 0;
  #finished = 0;

  constructor(steps: Steps) {
    this.#steps = steps;
  }

  /** How many are not answered. */
  get underWay(): number {
    return this.#forgotten + this.#list.length - this.#answered;
  }

  add(publish: UnansweredPublish): void {
    this.#list.push(publish);
  }

  /** Goes on as far as outcomes are known. */
  advance(): void {
    for (;;) {
      const next = this.#list[this.#finished - this.#forgotten];
      if (next?.outcome === undefined || this.#steps.mustWait()) break;
      this.#steps.finish(next, next.outcome);
      this.#finished += 1;
    }
    const finished = this.#finished;
    if (this.#durable < finished) {
      const synced = this.#steps.journal.synced(this.#steps.payer);
      if (synced === undefined) this.#durable = finished;
      else void synced.then(() => this.#answerUpTo(finished));
    }
    this.#answerUpTo(this.#durable);
  }

  /** Answers the first `durable` publishes: what they queued for others is durable. */
  #answerUpTo(durable: number): void {
    this.#durable = Math.max(this.#durable, durable);
    while (this.#answered < this.#durable) {
      const next = this.#list[this.#answered - this.#forgotten];
      this.#answered += 1;
      if (next !== undefined) this.#steps.answer(next);
    }
    const answered = this.#answered - this.#forgotten;
    if (answered === this.#list.length || answered >= answeredKeptMax) {
      this.#list = answered === this.#list.length ? [] : this.#list.slice(answered);
      this.#forgotten = this.#answered;
    }
    this.#steps.answered();
  }
}
