import type { Budgets } from '../domain/budgets/budgets.ts';
import type { ChangeFeed } from '../domain/changes.ts';
import type { Watch } from '../domain/datapoints/watch.ts';
import type { FigureSource } from '../domain/figures.ts';
import type { Gateways } from '../domain/gateways/gateways.ts';
import type { Presence } from '../domain/gateways/presence.ts';
import type { FindOrphans } from '../domain/messaging/orphans.ts';
import type { SessionStore } from '../domain/messaging/session-store.ts';
import type { Reporter } from '../domain/reporter.ts';
import type { AbsentActors } from '../domain/users/absent-actors.ts';
import type { Admit } from '../domain/users/admissions.ts';
import type { Sessions } from '../domain/users/sessions.ts';
import type { Clock } from '../lib/clock.ts';
import type { ConnectionGuard } from '../lib/connection-guard.ts';
import type { Log } from '../lib/log.ts';
import type { TlsSource } from '../lib/tls-source.ts';
import { createBroker } from './broker/broker-engine.ts';
import type { Broker } from './broker.ts';
import { cleanUpAfter, withoutOrphans } from './clean-up.ts';
import { deliverLive } from './deliveries.ts';
import { createGatewaySigns } from './gateway-signs.ts';
import { createAuthority } from './house.ts';
import { createMqttListener, type MqttListener } from './listener.ts';
import { createPublish, type PublishOptions } from './publish.ts';
import { createReceiveRights } from './rights.ts';
import { deliverFigures } from './system-figures.ts';
import { createTopicReader } from './topics.ts';

/** What MQTT is built on: the same roads as HTTP. */
export interface MqttServices extends Pick<PublishOptions, 'ingest' | 'actuators' | 'mayTunnel'> {
  readonly watch: Watch;
  readonly gateways: Gateways;
  readonly presence: Presence;
  readonly sessions: Sessions;
  readonly admit: Admit;
  readonly absentActors: AbsentActors;
  readonly findOrphans: FindOrphans;
}

export interface MqttDoorOptions {
  readonly services: MqttServices;
  /** Tells what was removed, and who lost a login. */
  readonly changes: Pick<ChangeFeed, 'onChange'>;
  readonly store: SessionStore;
  readonly host: string;
  readonly port: number;
  readonly tls?: TlsSource;
  readonly tlsPort: number;
  /** Watches the connections of all ports. */
  readonly connections: ConnectionGuard;
  readonly handshakeMs?: number | undefined;
  readonly figures: FigureSource;
  /** The room that is shared out to everybody, over all doors. */
  readonly budgets: Budgets;
  readonly clock: Clock;
  readonly reporter: Reporter;
  readonly log: Log;
}

/** The MQTT door: a broker whose rights and values are the service's. */
export interface MqttDoor extends Pick<MqttListener, 'listen' | 'port' | 'tlsPort'> {
  /** What shares the port of HTTP. */
  readonly guest: typeof firstByteAndPaths & Pick<MqttListener, 'takeOver' | 'upgrade'>;
  readonly broker: Broker;
  /** Says goodbye to everybody, and resolves when what was acknowledged is durable. */
  close(): Promise<void>;
}

/** A CONNECT packet begins with this byte [MQTT-3.1]; paths as clients of WebSocket use them. */
const firstByteAndPaths = {
  firstByte: 0x10,
  webSocketPaths: new Set(['/websocket', '/mqtt']) as ReadonlySet<string>,
} as const;

/** Loads what is kept of sessions and builds the door; `listen` opens it. */
export async function createMqttDoor(options: MqttDoorOptions): Promise<MqttDoor> {
  const { services, budgets, clock, log } = options;
  const store = withoutOrphans(options.store, services.findOrphans, log);
  const broker = await createHouseBroker(options);
  const listener = createMqttListener({ ...options, broker });
  const ends = [
    options.changes.onChange((change) => cleanUpAfter(change, broker)),
    deliverLive(services.watch, broker),
    deliverFigures({ broker, figures: options.figures, log }),
  ];
  return {
    listen: listener.listen,
    get port() {
      return listener.port;
    },
    get tlsPort() {
      return listener.tlsPort;
    },
    guest: { ...firstByteAndPaths, takeOver: listener.takeOver, upgrade: listener.upgrade },
    broker,
    async close() {
      // Nobody comes in any more, but sockets end only with what the broker says to them.
      const stopped = listener.stop();
      await broker.close();
      for (const end of ends) end();
      await stopped;
    },
  };

  function createHouseBroker({ reporter }: MqttDoorOptions): Promise<Broker> {
    const { watch, mayTunnel, gateways, presence } = services;
    const readTopic = createTopicReader();
    const retain: PublishOptions['retain'] = (message) =>
      created.then((one) => one.retain(message));
    const publish = createPublish({ ...services, readTopic, retain, reporter, log });
    const authority = createAuthority({
      publish,
      rights: createReceiveRights({ watch, mayTunnel, readTopic }),
      gatewaySigns: createGatewaySigns({ gateways, presence, log }),
      sessions: services.sessions,
      admit: services.admit,
      absentActors: services.absentActors,
      clock,
      reporter,
      log,
    });
    // The broker asks the house, and the house hands the broker what to retain.
    const created: Promise<Broker> = createBroker({ authority, store, budgets, clock, log });
    return created;
  }
}
