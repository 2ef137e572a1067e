import type { Verdict } from '../domain/access/access.ts';
import type { Actor } from '../domain/actor.ts';
import { type Payer, payerOf } from '../domain/budgets/payer.ts';
import type { Message } from '../domain/messaging/message.ts';
import type { ClientLogin } from '../domain/users/client-authentication.ts';
import type { Sessions } from '../domain/users/sessions.ts';
import type { Clock, Instant } from '../lib/clock.ts';
import type { Client, PublishOutcome } from './broker-hooks.ts';
import type { GatewayConnection, GatewayHeartbeats } from './gateway-heartbeats.ts';
import { mqttLimits } from './limits.ts';
import type { Publish } from './publish.ts';
import { maySubscribe, type ReceiveRights } from './rights.ts';

/** The services that all clients use. */
export interface ClientServices {
  readonly publish: Publish;
  readonly rights: ReceiveRights;
  readonly sessions: Sessions;
  readonly gatewayHeartbeats: GatewayHeartbeats;
  readonly clock: Clock;
}

const gone: PublishOutcome = {
  kind: 'refused',
  reason: 'not_authorized',
  description: 'the login has ended',
};

/**
 * A connection as the services know it. Its login is rechecked every now and then, and before the
 * next publish or delivery once any account or credential has changed.
 */
export class AuthenticatedClient implements Client {
  readonly identity: string;
  readonly payer: Payer;
  readonly sessionSecondsMax: number;
  readonly #services: ClientServices;
  readonly #clientId: string;
  readonly #admission: ClientLogin;
  /** undefined: the login has ended. */
  #actor: Actor | undefined;
  #generation: number;
  #askedAt: Instant;
  #renewedAt: Instant;
  #asking: Promise<void> | undefined;
  #gatewayConnection: GatewayConnection | undefined;
  #isConnected = false;
  /** Ends the connection, while there is one. */
  #end: (() => void) | undefined;

  constructor(
    services: ClientServices,
    options: {
      readonly admission: ClientLogin;
      readonly identity: string;
      readonly clientId: string;
      /** The generation of credentials in which it was admitted. */
      readonly generation: number;
    },
  ) {
    this.#services = services;
    this.#admission = options.admission;
    this.#clientId = options.clientId;
    this.#actor = options.admission.actor;
    this.#generation = options.generation;
    this.#askedAt = services.clock.now();
    this.#renewedAt = this.#askedAt;
    this.identity = options.identity;
    this.payer = payerOf(options.admission.actor);
    this.sessionSecondsMax =
      options.admission.actor.kind === 'guest'
        ? mqttLimits.guestSessionSecondsMax
        : mqttLimits.sessionExpirySecondsMax;
  }

  publish(message: Message): Promise<PublishOutcome> {
    if (this.#isCurrent()) return this.#publish(message);
    return this.#ask().then(() => this.#publish(message));
  }

  maySubscribe(filter: string): boolean {
    return this.#actor !== undefined && maySubscribe(this.#actor, filter);
  }

  async mayReceive(topic: string): Promise<boolean> {
    if (!this.#isCurrent()) await this.#ask();
    return this.#actor !== undefined && this.#services.rights.mayReceive(this.#actor, topic);
  }

  tryReceive(topic: string): Verdict {
    if (!this.#isCurrent()) return 'unknown';
    return this.#actor === undefined ? 'no' : this.#services.rights.tryReceive(this.#actor, topic);
  }

  isGone(): boolean {
    const { clock } = this.#services;
    const isDue = clock.now() - this.#askedAt >= mqttLimits.recheckMs;
    if (isDue || !this.#isOfThisGeneration()) void this.#ask();
    return this.#actor === undefined;
  }

  connected(end: () => void): void {
    this.#isConnected = true;
    this.#end = end;
    if (this.#actor !== undefined) {
      this.#gatewayConnection = this.#services.gatewayHeartbeats.arrive(
        this.#clientId,
        this.#actor,
      );
    }
  }

  disconnected(): void {
    this.#isConnected = false;
    this.#end = undefined;
    this.#gatewayConnection?.leave(this.#actor);
  }

  #publish(message: Message): Promise<PublishOutcome> {
    return this.#actor === undefined
      ? Promise.resolve(gone)
      : this.#services.publish(this.#actor, message);
  }

  #isOfThisGeneration(): boolean {
    return this.#generation === this.#services.sessions.generation;
  }

  /** Whether the login is current: a closed connection is not renewed, but its will may come. */
  #isCurrent(): boolean {
    return this.#isConnected && this.#isOfThisGeneration();
  }

  /** Checks the login again, once at a time; never rejects. */
  #ask(): Promise<void> {
    this.#asking ??= this.#askNow().finally(() => {
      this.#asking = undefined;
    });
    return this.#asking;
  }

  /** A sign of life is written to disk: not for every change of some account. */
  #renewHeartbeat(now: Instant): void {
    if (!this.#isConnected || now - this.#renewedAt < mqttLimits.recheckMs) return;
    this.#renewedAt = now;
    this.#gatewayConnection?.renew(this.#actor);
  }

  async #askNow(): Promise<void> {
    const { sessions, clock } = this.#services;
    const { generation } = sessions;
    this.#askedAt = clock.now();
    try {
      // A login that ended stays ended, whatever becomes of the account.
      if (this.#actor !== undefined) this.#actor = await this.#admission.recheck();
      this.#generation = generation;
    } catch {
      // The store cannot answer: an admitted client stays, and is asked about again.
      return;
    }
    if (this.#actor === undefined) this.#end?.();
    this.#renewHeartbeat(clock.now());
  }
}
