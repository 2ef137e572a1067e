import type { ChangeSource } from '../domain/changes.ts';
import type { DatapointStore } from '../domain/datapoints/datapoint-store.ts';
import type { Peers } from '../domain/datapoints/peers.ts';
import type { Watch } from '../domain/datapoints/watch.ts';
import type { FindOrphans } from '../domain/messaging/orphans.ts';
import type { MetricSource } from '../domain/metrics.ts';
import type { BrokerOptions } from './broker/broker-context.ts';
import { createBroker } from './broker/broker-engine.ts';
import type { Broker } from './broker.ts';
import { cleanUpAfter, createCorrectRetained, withoutOrphans } from './clean-up.ts';
import { deliverEvent, deliverLive } from './deliveries.ts';
import { createMqttListener, type MqttListenerOptions, webSocketProtocols } from './listener.ts';
import { createPublish, type PublishOptions } from './publish.ts';
import { createServiceHooks, type ServiceHooksOptions } from './service-hooks.ts';
import { publishSystemMetrics } from './system-metrics.ts';
import { createTopicReader } from './topics.ts';

/** The services that MQTT calls, the same as HTTP does. */
export interface MqttServices
  extends Pick<PublishOptions, 'ingest' | 'takeLargePush' | 'actuators'>,
    Omit<
      ServiceHooksOptions,
      'publish' | 'readTopic' | 'watch' | 'changes' | 'clock' | 'reporter' | 'log'
    > {
  readonly watch: Watch;
  readonly findOrphans: FindOrphans;
  /** Finds the value that is shown as the last one of a sensor. */
  readonly lastValue: DatapointStore['lastValue'];
}

interface MqttServerOptions
  extends Omit<MqttListenerOptions, 'broker'>,
    Omit<BrokerOptions, 'authority' | 'others'> {
  readonly services: MqttServices;
  /** Publishes what was removed, and which identities lost a login. */
  readonly changes: ChangeSource;
  /** Absent: no other process serves the same data. */
  readonly peers?: Peers | undefined;
  readonly metrics: MetricSource;
}

/** The MQTT server: a broker whose rights and values are the service's. */
export type MqttServer = Awaited<ReturnType<typeof createMqttServer>>;

/** A CONNECT packet begins with this byte [MQTT-3.1]; paths as clients of WebSocket use them. */
const firstByteAndPaths = {
  firstByte: 0x10,
  webSocketPaths: new Set(['/websocket', '/mqtt']) as ReadonlySet<string>,
  webSocketProtocols,
} as const;

/** Loads what is kept of sessions and builds the server; `listen` opens it. */
export async function createMqttServer(options: MqttServerOptions) {
  const { services, changes, budgets, clock, reporter, log, peers } = options;
  const store = withoutOrphans(options.store, services.findOrphans, log);
  const readTopic = createTopicReader();
  const retain: PublishOptions['retain'] = (message) => created.then((one) => one.retain(message));
  const publish = createPublish({ ...services, readTopic, retain, reporter, log, peers });
  const hooks = { ...services, publish, readTopic, clock, reporter, log, changes };
  // The broker asks the hooks, and the hooks hand the broker what to retain.
  const created: Promise<Broker> = createBroker({
    ...{ authority: createServiceHooks(hooks), store, budgets, clock, log },
    others: peers && { peers, deliverEvent },
  });
  const broker = await created;
  const correctRetained = createCorrectRetained(broker, services.lastValue);
  const listener = createMqttListener({ ...options, broker });
  const ends = [
    changes.onChange((change) => cleanUpAfter(change, broker)),
    changes.onChange(async (change) => {
      if (change.kind === 'datapoints_corrected') await correctRetained(change);
      if (change.kind === 'anything') broker.lookAgain();
    }),
    deliverLive(services.watch, broker),
    publishSystemMetrics({ broker, metrics: options.metrics, log }),
  ];
  await broker.adoptSessions();
  return {
    listen: listener.listen,
    get port() {
      return listener.port;
    },
    get tlsPort() {
      return listener.tlsPort;
    },
    /** Handles MQTT on the port of HTTP. */
    protocolHandler: {
      ...firstByteAndPaths,
      takeOver: listener.takeOver,
      upgrade: listener.upgrade,
    },
    broker,
    /** Disconnects all clients, and resolves when acknowledged messages are durable. */
    async close(): Promise<void> {
      // No client comes in any more, but sockets end only with the broker's last packet to them.
      const stopped = listener.stop();
      await broker.close();
      for (const end of ends) end();
      await stopped;
    },
  };
}
