import type { AddressInfo } from 'node:net';
import type { Config } from '../config/config.ts';
import type { Budgets } from '../domain/budgets/budgets.ts';
import type { ChangeFeed } from '../domain/changes.ts';
import type { Peers } from '../domain/datapoints/peers.ts';
import { limits } from '../domain/limits.ts';
import type { Reporter } from '../domain/reporter.ts';
import {
  createHttpServer,
  type HttpServer,
  type HttpServerOptions,
  type HttpTimeouts,
} from '../http/server.ts';
import type { SteadyClock } from '../lib/clock.ts';
import { type ConnectionGuard, createConnectionGuard } from '../lib/connection-guard.ts';
import type { Log } from '../lib/log.ts';
import { PortError } from '../lib/port-error.ts';
import { createMqttServer, type MqttServer } from '../mqtt/mqtt-server.ts';
import type { Storage } from '../storage/storage.ts';
import { type Metrics, metricsContentType } from '../telemetry/metrics.ts';
import { createConnectionQuotas } from './connection-quotas.ts';
import type { BuiltServices } from './services.ts';
import { watchTlsFiles } from './tls-files.ts';
import { readVersion } from './version.ts';

/** How long peers may take, and how long the end of the service waits for them. */
export interface ServerTimeouts extends HttpTimeouts {
  readonly drainMs: number;
}

/** Where the service listens. */
export interface ServerUrls {
  /** HTTP, for instance http://127.0.0.1:8080. */
  readonly url: string;
  /** MQTT, for instance mqtt://127.0.0.1:1883. */
  readonly mqttUrl: string;
  /** MQTT over TLS; absent without a certificate. */
  readonly mqttsUrl?: string;
}

/** Opens the ports of HTTP and MQTT, with one guard and one end of all their connections. */
export async function openServers(options: {
  readonly config: Config;
  readonly built: BuiltServices;
  readonly storage: Storage;
  readonly feed: ChangeFeed & { readonly peers?: Peers | undefined };
  readonly meters: {
    readonly metrics: Metrics;
    readonly reporter: Reporter;
    readonly budgets: Budgets;
  };
  readonly forHttp: Pick<HttpServerOptions, 'answerCall' | 'dashboardFolder'>;
  readonly timeouts?: ServerTimeouts;
  readonly clock: SteadyClock;
  readonly log: Log;
  /** Receives the functions that close what was opened, called last first. */
  readonly onOpened: (end: () => unknown) => void;
}): Promise<ServerUrls> {
  const { config, built, storage, meters, timeouts, clock, log, onOpened } = options;
  const { metrics, reporter, budgets } = meters;
  const tls = config.listen.tls && watchTlsFiles(config.listen.tls, log);
  onOpened(() => tls?.close());
  const { host, mqttPort, mqttsPort, isTrustedProxy } = config.listen;
  const connections = createConnectionGuard({
    room: createConnectionQuotas(budgets.of('connections'), isTrustedProxy),
    handshakes: createConnectionQuotas(budgets.of('tls_handshakes'), isTrustedProxy),
    isTrustedProxy,
    onRefused: (why) => reporter.connectionRefused(why),
  });
  const mqtt = await createMqttServer({
    services: built.mqttServices,
    changes: options.feed,
    store: storage.mqttSessions,
    peers: options.feed.peers,
    ...{ host, port: mqttPort, tlsPort: mqttsPort, clock, reporter, log, budgets, connections },
    handshakeMs: timeouts?.handshakeMs,
    ...(tls !== undefined && { tls }),
    metrics: metrics.source,
  });
  metrics.watchMqtt(() => mqtt.broker.metrics());
  const http = await createHttpServer({
    services: built.services,
    ...httpSettings(config),
    ...(tls !== undefined && { tls }),
    ...options.forHttp,
    ...{
      protocolHandler: mqtt.protocolHandler,
      connections,
      timeouts,
      budgets,
      reporter,
      log,
      clock,
    },
    isTrustedProxy,
    ping: () => storage.ping(),
    metricsText: () => metrics.metricsText(),
    metricsContentType,
  });
  const drainMs = timeouts?.drainMs ?? limits.drainMs;
  onOpened(() => closeServers({ http, mqtt, connections, log, drainMs }));
  metrics.watchEventLoop();
  await mqtt.listen();
  await listenForHttp(http, config);
  return urlsOf(http, mqtt, config);
}

/** Picks the settings that the HTTP server needs from the configuration. */
function httpSettings({ accounts, dashboard, listen, publicPush }: Config) {
  return {
    tokenLifeSeconds: accounts.tokenLifeMs / 1_000,
    v1TokenLifeSeconds: accounts.v1TokenLifeMs / 1_000,
    ...(listen.publicUrl !== undefined && { publicUrl: listen.publicUrl }),
    hasFastPath: listen.fastPath === 'on',
    version: readVersion(),
    dashboard: {
      ...{ ...dashboard, publicPush },
      mqttPort: listen.mqttPort,
    },
  };
}

async function listenForHttp(http: HttpServer, config: Config): Promise<void> {
  const { host, httpPort: port } = config.listen;
  try {
    await http.listen({ host, port });
  } catch (cause) {
    throw new PortError({ port, setting: 'KIPIMO_HTTP_PORT', cause });
  }
}

const idleSweepMs = 50;

/** Lets what is under way finish; a client still connected after `drainMs` is cut off. */
async function closeServers(options: {
  readonly http: HttpServer;
  readonly mqtt: MqttServer;
  readonly connections: ConnectionGuard;
  readonly log: Log;
  readonly drainMs: number;
}): Promise<void> {
  const { http, mqtt, connections, log, drainMs } = options;
  // A peer that never finishes, in whatever it is, must not keep the process alive.
  const impatience = setTimeout(() => {
    log.warn(
      { afterMs: drainMs, connections: connections.size },
      'closing connections that did not finish',
    );
    connections.destroyAll();
  }, drainMs);
  // An answer under way leaves its connection open and idle behind it; nothing else closes that.
  const sweep = setInterval(() => http.server.closeIdleConnections(), idleSweepMs);
  // Together: connections of one may be on the other's port.
  await Promise.all([http.close(), mqtt.close()]);
  clearInterval(sweep);
  clearTimeout(impatience);
}

function urlsOf(http: HttpServer, mqtt: MqttServer, config: Config): ServerUrls {
  const { address, port } = http.server.address() as AddressInfo;
  const host = address === '0.0.0.0' || address === '::' ? '127.0.0.1' : address;
  const place = host.includes(':') ? `[${host}]` : host;
  const scheme = config.listen.tls === undefined ? 'http' : 'https';
  return {
    url: `${scheme}://${place}:${port}`,
    mqttUrl: `mqtt://${place}:${mqtt.port}`,
    ...(mqtt.tlsPort !== undefined && { mqttsUrl: `mqtts://${place}:${mqtt.tlsPort}` }),
  };
}
