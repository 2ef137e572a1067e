import { isUtf8 } from 'node:buffer';
import type { Verdict } from '../domain/access/policy.ts';
import { type Actor, asSeerOfActuators, guest } from '../domain/actor.ts';
import { type Payer, payerOf } from '../domain/budgets/budget.ts';
import type { ChangeSource } from '../domain/changes.ts';
import type { RefusedPushes } from '../domain/datapoints/refused-pushes.ts';
import type { Watch } from '../domain/datapoints/watch.ts';
import { DomainError, isFailureToStore } from '../domain/errors.ts';
import type { Gateways } from '../domain/gateways/gateways.ts';
import type { Presence } from '../domain/gateways/presence.ts';
import { type DeviceId, type GatewayId, parseGatewayId } from '../domain/ids.ts';
import type { DeviceTopics } from '../domain/messaging/device-topics.ts';
import { accountOf, identityOf } from '../domain/messaging/identity.ts';
import type { Message } from '../domain/messaging/message.ts';
import type { Reporter } from '../domain/reporter.ts';
import type { AuthenticateClient, ClientLogin } from '../domain/users/client-authentication.ts';
import type { OfflineActors } from '../domain/users/credential-directory.ts';
import type { Sessions } from '../domain/users/sessions.ts';
import type { Clock, Instant } from '../lib/clock.ts';
import type { Log } from '../lib/log.ts';
import {
  type BrokerHooks,
  type Client,
  type ConnectAnswer,
  type ConnectRefusal,
  type ConnectRequest,
  type PublishOutcome,
  unavailableOutcome,
} from './broker.ts';
import { mqttLimits } from './limits.ts';
import type { Publish } from './publish.ts';
import { systemPrefix, type Target } from './topics.ts';

export interface ServiceHooksOptions {
  readonly publish: Publish;
  readonly watch: Pick<Watch, 'mayView' | 'tryView'>;
  readonly deviceTopics: DeviceTopics;
  readonly readTopic: (topic: string) => Target;
  readonly gateways: Gateways;
  readonly presence: Presence;
  readonly sessions: Sessions;
  readonly changes: Pick<ChangeSource, 'isCurrent'>;
  readonly admit: AuthenticateClient;
  readonly offlineActors: OfflineActors;
  readonly refusedPushes: Pick<RefusedPushes, 'note'>;
  readonly clock: Clock;
  readonly reporter: Reporter;
  readonly log: Log;
}

/** The service as the broker asks it: which clients may come in, and what they may do. */
export function createServiceHooks(options: ServiceHooksOptions): BrokerHooks {
  const rights = createReceiveRights(options);
  const services = { ...options, rights, gatewayHeartbeats: createGatewayHeartbeats(options) };
  const { admit, offlineActors, sessions, refusedPushes, reporter, log } = options;

  async function letIn(request: ConnectRequest): Promise<ConnectAnswer> {
    const { username, password, address, clientId, signal } = request;
    const { generation } = sessions;
    if (password !== undefined && !isUtf8(password)) return refuse('bad_credentials');
    const admission = await admit({
      ...(username !== undefined && { username }),
      ...(password !== undefined && { password: Buffer.from(password).toString('utf8') }),
      address,
      ...(signal && { signal }),
    });
    const identity = identityOf(admission.actor);
    const client = new AuthenticatedClient(services, { admission, identity, clientId, generation });
    return { kind: 'accepted', client };
  }

  function refuse(reason: ConnectRefusal): ConnectAnswer {
    reporter.connectionRefused(reason);
    return { kind: 'refused', reason };
  }

  return {
    async connect(request) {
      try {
        return await letIn(request);
      } catch (error) {
        if (!(error instanceof DomainError)) {
          log.error({ err: error }, 'a login over MQTT met a bug');
          return refuse('unavailable');
        }
        const { username, address } = request;
        if (username !== undefined) {
          void refusedPushes.note({ via: 'mqtt', code: error.code, username, address });
        }
        return refuse(refusalOf(error));
      }
    },
    async mayQueue(identity, topic) {
      const account = accountOf(identity);
      try {
        const actor = account === undefined ? guest : await offlineActors.find(account);
        return actor !== undefined && (await rights.mayReceive(actor, topic));
      } catch {
        // Without an answer the message is kept: the right is checked again at its delivery.
        return true;
      }
    },
    async publishFor(identity, message) {
      const account = accountOf(identity);
      try {
        const actor = account === undefined ? guest : await offlineActors.find(account);
        if (actor === undefined) return { kind: 'refused', reason: 'not_authorized' };
        return await options.publish(actor, message);
      } catch {
        return unavailableOutcome;
      }
    },
    tryQueue(identity, topic) {
      const account = accountOf(identity);
      const actor = account === undefined ? guest : offlineActors.peek(account);
      return actor === undefined ? 'unknown' : rights.tryReceive(actor, topic);
    },
  };
}

function refusalOf({ code }: DomainError): ConnectRefusal {
  if (code === 'unauthenticated') return 'bad_credentials';
  if (code === 'rate_limited' || code === 'unavailable') return code;
  if (code === 'storage_full') return 'unavailable';
  return 'not_authorized';
}

/** The services that all clients use. */
interface ClientServices
  extends Pick<ServiceHooksOptions, 'publish' | 'sessions' | 'clock' | 'changes'> {
  readonly rights: ReturnType<typeof createReceiveRights>;
  readonly gatewayHeartbeats: GatewayHeartbeats;
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
class AuthenticatedClient implements Client {
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
  #readAt = performance.now();
  #behind: Promise<void> | undefined;
  #renewedAt: Instant;
  #asking: { readonly over: Promise<void>; readonly generation: number } | undefined;
  #gatewayConnection: ReturnType<GatewayHeartbeats['arrive']>;
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
    // In order: what was published before may wait for an answer.
    if (!this.#isCurrent()) {
      const behind = Promise.all([this.#behind, this.#ask()]).then(() => {
        if (this.#behind === behind) this.#behind = undefined;
      });
      this.#behind = behind;
    }
    return this.#behind?.then(() => this.#publish(message)) ?? this.#publish(message);
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
    const { changes } = this.#services;
    const isHeard = changes.isCurrent?.(this.#readAt) !== false;
    return isHeard && this.#isConnected && this.#isOfThisGeneration();
  }

  /** Checks the login again, once at a time for each generation; never rejects. */
  #ask(): Promise<void> {
    const { generation } = this.#services.sessions;
    if (this.#asking?.generation === generation) return this.#asking.over;
    const over = this.#askNow().finally(() => {
      if (this.#asking?.over === over) this.#asking = undefined;
    });
    this.#asking = { over, generation };
    return over;
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
    const readAt = performance.now();
    try {
      // A login that ended stays ended, whatever becomes of the account.
      const actor = this.#actor && (await this.#admission.recheck());
      // Of a later generation it was answered before.
      if (generation < this.#generation) return;
      this.#actor = actor;
      this.#generation = generation;
      this.#readAt = readAt;
    } catch {
      // The store cannot answer: an admitted client stays, and is asked about again.
      return;
    }
    if (this.#actor === undefined) this.#end?.();
    this.#renewHeartbeat(clock.now());
  }
}

type GatewayHeartbeats = ReturnType<typeof createGatewayHeartbeats>;

/** A connected client whose client id is a gateway's is its sign of life [contract 5]. */
function createGatewayHeartbeats({ gateways, presence, log }: ServiceHooksOptions) {
  /** Records a sign of life; false: not a gateway, or not the actor's to update. */
  async function beat(id: GatewayId, actor: Actor | undefined): Promise<boolean> {
    if (actor === undefined) return false;
    try {
      await gateways.heartbeat(actor, id);
      return true;
    } catch (error) {
      if (!(error instanceof DomainError)) {
        log.error({ err: error }, 'the sign of life of a gateway met a bug');
      }
      // While the store cannot answer nothing is known to have changed; it is asked again.
      return error instanceof DomainError && isFailureToStore(error);
    }
  }

  return {
    /** A client that may be a gateway arrives; undefined: its id cannot be a gateway's. */
    arrive(clientId: string, actor: Actor) {
      const id = readGatewayId(clientId);
      if (id === undefined) return undefined;
      let end: (() => void) | undefined;
      let isHere = true;

      const renew = async (who: Actor | undefined): Promise<void> => {
        const isGateway = await beat(id, who);
        if (isGateway && isHere) end ??= presence.enter(id);
        else {
          end?.();
          end = undefined;
        }
      };

      void renew(actor);
      return {
        /** Asks again whether the gateway exists and is the client's to speak for. */
        renew: (who: Actor | undefined): void => void renew(who),
        leave(who: Actor | undefined): void {
          isHere = false;
          if (end !== undefined) void beat(id, who);
          end?.();
          end = undefined;
        },
      };
    },
  };
}

function readGatewayId(clientId: string): GatewayId | undefined {
  try {
    return parseGatewayId(clientId);
  } catch {
    // Any text may be a client id, but not a gateway's.
    return undefined;
  }
}

/** Whether an actor may get a message on a topic now: which question of the domain decides. */
function createReceiveRights({ watch, deviceTopics, readTopic }: ServiceHooksOptions) {
  return {
    /** Rejects when the store cannot answer: then it is to be asked again. */
    async mayReceive(actor: Actor, topic: string): Promise<boolean> {
      const target = readTopic(topic);
      const deviceId = viewedDevice(target);
      if (deviceId !== undefined) return watch.mayView(viewerOf(target, actor), deviceId);
      if (target.kind === 'device_topic') return deviceTopics.may(actor, target.owner);
      return target.kind === 'system' && actor.kind === 'admin';
    },
    /** The fast path of deliveries: answers at once, from what is at hand. */
    tryReceive(actor: Actor, topic: string): Verdict {
      const target = readTopic(topic);
      const deviceId = viewedDevice(target);
      if (deviceId !== undefined) return watch.tryView(viewerOf(target, actor), deviceId);
      return target.kind === 'device_topic' ? deviceTopics.tryMay(actor, target.owner) : 'unknown';
    },
  };
}

const viewerOf = (target: Target, actor: Actor): Actor =>
  target.kind === 'actuator' ? asSeerOfActuators(actor) : actor;

/** The device that one must be able to view to get messages of the topic. */
function viewedDevice(target: Target): DeviceId | undefined {
  if (target.kind === 'datapoints') return target.sensor.deviceId;
  return target.kind === 'actuator' ? target.deviceId : undefined;
}

const sharePattern = /^\$share\/[^/]*\//;

/** Accepts filters of topics the actor may not see, but for the service's own [contract 8]. */
function maySubscribe(actor: Actor, filter: string): boolean {
  const topics = filter.replace(sharePattern, '');
  if (!topics.startsWith('$')) return true;
  return actor.kind === 'admin' && `${topics}/`.startsWith(systemPrefix);
}
