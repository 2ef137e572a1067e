import type { Verdict } from '../domain/access/access.ts';
import type { Actor } from '../domain/actor.ts';
import { type Payer, payerOf } from '../domain/budgets/payer.ts';
import type { Message } from '../domain/messaging/message.ts';
import type { Admission } from '../domain/users/admissions.ts';
import type { Sessions } from '../domain/users/sessions.ts';
import type { Clock, Instant } from '../lib/clock.ts';
import type { Client, PublishOutcome } from './authority.ts';
import type { GatewaySigns, GatewayStay } from './gateway-signs.ts';
import { mqttLimits } from './limits.ts';
import type { Publish } from './publish.ts';
import { maySubscribe, type ReceiveRights } from './rights.ts';

/** What every client of the house shares. */
export interface House {
  readonly publish: Publish;
  readonly rights: ReceiveRights;
  readonly sessions: Sessions;
  readonly gatewaySigns: GatewaySigns;
  readonly clock: Clock;
}

const gone: PublishOutcome = {
  kind: 'refused',
  reason: 'not_authorized',
  description: 'the login has ended',
};

/**
 * One connection as the house knows it. Who it is gets asked again every now and then, and before
 * anything else once any account or credential has changed.
 */
export class HouseClient implements Client {
  readonly identity: string;
  readonly payer: Payer;
  readonly sessionSecondsMax: number;
  readonly #house: House;
  readonly #clientId: string;
  readonly #admission: Admission;
  /** undefined: the login has ended. */
  #actor: Actor | undefined;
  #generation: number;
  #askedAt: Instant;
  #renewedAt: Instant;
  #asking: Promise<void> | undefined;
  #stay: GatewayStay | undefined;
  #isConnected = false;

  constructor(
    house: House,
    options: {
      readonly admission: Admission;
      readonly identity: string;
      readonly clientId: string;
      /** The generation of credentials in which it was admitted. */
      readonly generation: number;
    },
  ) {
    this.#house = house;
    this.#admission = options.admission;
    this.#clientId = options.clientId;
    this.#actor = options.admission.actor;
    this.#generation = options.generation;
    this.#askedAt = house.clock.now();
    this.#renewedAt = this.#askedAt;
    this.identity = options.identity;
    this.payer = payerOf(options.admission.actor);
    this.sessionSecondsMax =
      options.admission.actor.kind === 'guest'
        ? mqttLimits.guestSessionSecondsMax
        : mqttLimits.sessionExpirySecondsMax;
  }

  async publish(message: Message): Promise<PublishOutcome> {
    if (!this.#isCurrent()) await this.#ask();
    return this.#actor === undefined ? gone : this.#house.publish(this.#actor, message);
  }

  maySubscribe(filter: string): boolean {
    return this.#actor !== undefined && maySubscribe(this.#actor, filter);
  }

  async mayReceive(topic: string): Promise<boolean> {
    if (!this.#isCurrent()) await this.#ask();
    return this.#actor !== undefined && this.#house.rights.mayReceive(this.#actor, topic);
  }

  tryReceive(topic: string): Verdict {
    if (!this.#isCurrent()) return 'unknown';
    return this.#actor === undefined ? 'no' : this.#house.rights.tryReceive(this.#actor, topic);
  }

  isGone(): boolean {
    const { clock } = this.#house;
    const isDue = clock.now() - this.#askedAt >= mqttLimits.recheckMs;
    if (isDue || !this.#isOfThisGeneration()) void this.#ask();
    return this.#actor === undefined;
  }

  connected(): void {
    this.#isConnected = true;
    if (this.#actor !== undefined) {
      this.#stay = this.#house.gatewaySigns.arrive(this.#clientId, this.#actor);
    }
  }

  disconnected(): void {
    this.#isConnected = false;
    this.#stay?.leave(this.#actor);
  }

  #isOfThisGeneration(): boolean {
    return this.#generation === this.#house.sessions.generation;
  }

  /** Nobody looks after a connection that is over, but its last will may still come. */
  #isCurrent(): boolean {
    return this.#isConnected && this.#isOfThisGeneration();
  }

  /** Asks who it is now, once at a time; never rejects. */
  #ask(): Promise<void> {
    this.#asking ??= this.#askNow().finally(() => {
      this.#asking = undefined;
    });
    return this.#asking;
  }

  /** A sign of life is written to disk: not for every change of some account. */
  #renewStay(now: Instant): void {
    if (!this.#isConnected || now - this.#renewedAt < mqttLimits.recheckMs) return;
    this.#renewedAt = now;
    this.#stay?.renew(this.#actor);
  }

  async #askNow(): Promise<void> {
    const { sessions, clock } = this.#house;
    const { generation } = sessions;
    this.#askedAt = clock.now();
    try {
      // Who was gone once stays gone, whatever becomes of the account.
      if (this.#actor !== undefined) this.#actor = await this.#admission.recheck();
      this.#generation = generation;
    } catch {
      // The store cannot answer: who was let in stays, and is asked about again.
      return;
    }
    this.#renewStay(clock.now());
  }
}
