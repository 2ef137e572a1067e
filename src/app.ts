import type { AddressInfo } from 'node:net';
import type { OpenChannels } from './channels/index.ts';
import type { Config, Secrets } from './config.ts';
import { limits } from './domain/limits.ts';
import { ensureAdmin } from './domain/users/first-admin.ts';
import { createHttpServer, type HttpServer } from './http/server.ts';
import { ensureInstallationSecret } from './installation-secret.ts';
import { type Clock, systemClock } from './lib/clock.ts';
import type { Log } from './lib/log.ts';
import { PortError } from './lib/port-error.ts';
import { openMessageWays } from './message-ways.ts';
import { createMqttDoor, type MqttDoor } from './mqtt/mqtt-door.ts';
import { createRemovalNotices } from './removal-notices.ts';
import { createServices } from './services.ts';
import { openStorage } from './storage/open-storage.ts';
import type { Storage } from './storage/storage.ts';
import { createMetrics, metricsContentType } from './telemetry/metrics.ts';
import { createMetricsReporter } from './telemetry/reporter.ts';
import { watchTlsFiles } from './tls-files.ts';
import { readVersion } from './version.ts';

export interface AppOptions {
  readonly config: Config;
  readonly secrets: Secrets;
  readonly log: Log;
  readonly clock?: Clock;
  /** Instead of the one the configuration names; closed with the app. */
  readonly storage?: Storage;
  /** Instead of those the configuration names; closed with the app. */
  readonly channels?: OpenChannels;
  /** Where the built web app is, instead of its usual place. */
  readonly dashboardFolder?: string;
}

export interface RunningApp {
  /** Where HTTP listens, for instance http://127.0.0.1:8080. */
  readonly url: string;
  /** Where MQTT listens, for instance mqtt://127.0.0.1:1883. */
  readonly mqttUrl: string;
  /** Where MQTT over TLS listens; absent without a certificate. */
  readonly mqttsUrl?: string;
  /** Present once, when the first start made up the admin's password. */
  readonly generatedPassword?: string;
  /** Answers what is under way, stores what was accepted, and leaves. */
  close(): Promise<void>;
}

/** Builds every part in order, wires them by hand, and opens the doors. */
export async function startApp(options: AppOptions): Promise<RunningApp> {
  const { config, secrets, log, clock = systemClock } = options;
  const metrics = createMetrics();
  const reporter = createMetricsReporter(metrics);
  const { directory } = config.storage;
  const installationSecret = ensureInstallationSecret(directory);
  // Undone in reverse order, whether the start fails half-way or the service ends.
  const opened: (() => unknown)[] = [];
  const close = async (): Promise<void> => {
    for (let end = opened.pop(); end !== undefined; end = opened.pop()) await end();
  };
  try {
    const engine =
      options.storage ?? (await openStorage({ kind: 'sqlite', directory, clock, log, reporter }));
    opened.push(() => engine.close());
    const removals = createRemovalNotices(engine);
    const { storage } = removals;
    const admin = await ensureAdmin({
      users: storage.users,
      clock,
      username: config.accounts.adminUsername,
      ...(secrets.adminPassword !== undefined && { password: secrets.adminPassword }),
    });
    const ways = await openMessageWays({ ...options, clock, installationSecret });
    opened.push(() => ways.close());
    const built = createServices({ config, storage, clock, reporter, log, ...ways.forServices });
    opened.push(built.drain);
    await built.start();
    const tls = config.listen.tls && watchTlsFiles(config.listen.tls, log);
    opened.push(() => tls?.close());
    const { host, mqttPort, mqttsPort } = config.listen;
    const mqtt = await createMqttDoor({
      services: built.mqttServices,
      store: storage.mqttSessions,
      ...{ host, port: mqttPort, tlsPort: mqttsPort, clock, reporter, log },
      ...(tls !== undefined && { tls }),
      figures: metrics.figures,
    });
    removals.tell(mqtt.removals);
    metrics.watchMqtt(() => mqtt.broker.figures());
    const http = await createHttpServer({
      services: built.services,
      tokenLifeSeconds: config.accounts.tokenLifeMs / 1_000,
      v1TokenLifeSeconds: config.accounts.v1TokenLifeMs / 1_000,
      version: readVersion(),
      dashboard: {
        ...config.dashboard,
        signup: config.accounts.signup,
        mqttPort: config.listen.mqttPort,
      },
      ...(tls !== undefined && { tls }),
      dashboardFolder: options.dashboardFolder,
      guest: mqtt.guest,
      ...ways.forHttp,
      ping: () => storage.ping(),
      metricsText: () => metrics.metricsText(),
      metricsContentType,
      reporter,
      log,
    });
    // Together: connections of one may be on the other's port.
    opened.push(() => Promise.all([closeHttp(http, log), mqtt.close()]));
    await mqtt.listen();
    await listenForHttp(http, config);
    return { ...urlsOf(http, mqtt, config), ...admin, close };
  } catch (error) {
    await close();
    throw error;
  }
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

async function closeHttp(http: HttpServer, log: Log): Promise<void> {
  // A client that never finishes its request must not keep the process alive.
  const impatience = setTimeout(() => {
    log.warn({ afterMs: limits.drainMs }, 'closing connections that did not finish');
    http.server.closeAllConnections();
  }, limits.drainMs);
  // An answer under way leaves its connection open and idle behind it; nobody else closes that.
  const sweep = setInterval(() => http.server.closeIdleConnections(), idleSweepMs);
  await http.close();
  clearInterval(sweep);
  clearTimeout(impatience);
}

function urlsOf(
  http: HttpServer,
  mqtt: MqttDoor,
  config: Config,
): Pick<RunningApp, 'url' | 'mqttUrl' | 'mqttsUrl'> {
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
