import type { Payer } from '../../domain/budgets/payer.ts';
import type { WaitingPlace } from '../../domain/budgets/waiting-budget.ts';
import { mqttLimits } from '../limits.ts';
import { reason } from '../packets/reason-codes.ts';
import type { BrokerContext } from './broker-context.ts';

/** The connection whose CONNECT is waited for. */
interface Opener {
  readonly input: { readonly payer: Payer };
  abort(code: number): void;
}

/** A connection until its CONNECT is whole: how long that may take, and its budget. */
export class Opening {
  readonly #context: BrokerContext;
  readonly #opener: Opener;
  readonly #beganAt: number;
  /** Of a CONNECT that comes in pieces; its bytes count with those of other packets. */
  #place: WaitingPlace | undefined;

  constructor(context: BrokerContext, opener: Opener) {
    this.#context = context;
    this.#opener = opener;
    this.#beganAt = context.awake.ms;
  }

  ageMs(awakeMs: number): number {
    return awakeMs - this.#beganAt;
  }

  /** Something has arrived, but no whole CONNECT. */
  begun(): void {
    const end = (): void => this.#opener.abort(reason.quotaExceeded);
    const payerOf = (): Payer => this.#opener.input.payer;
    this.#place ??= this.#context.waiting.place({ payerOf, end });
    if (!this.#place.hold(mqttLimits.openingBytes)) end();
  }

  /** Gives the budget back: CONNECT is whole, or is not waited for any longer. */
  over(): void {
    this.#place?.hold(0);
  }

  sweep(awakeMs: number): void {
    const waitMs = this.#place === undefined ? mqttLimits.silentMs : mqttLimits.connectMs;
    if (this.ageMs(awakeMs) > waitMs) this.#opener.abort(reason.maximumConnectTime);
  }
}
