import type { AddressInfo } from 'node:net';
import type { Config, Secrets } from './config.ts';
import { limits } from './domain/limits.ts';
import { ensureAdmin } from './domain/users/first-admin.ts';
import { createHttpServer, type HttpServer } from './http/server.ts';
import { ensureInstallationSecret } from './installation-secret.ts';
import { type Clock, systemClock } from './lib/clock.ts';
import type { Log } from './lib/log.ts';
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
}

export interface RunningApp {
  /** Where HTTP listens, for instance http://127.0.0.1:8080. */
  readonly url: string;
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
  ensureInstallationSecret(directory);
  const storage =
    options.storage ?? (await openStorage({ kind: 'sqlite', directory, clock, log, reporter }));
  try {
    const admin = await ensureAdmin({
      users: storage.users,
      clock,
      username: config.accounts.adminUsername,
      ...(secrets.adminPassword !== undefined && { password: secrets.adminPassword }),
    });
    const { services, drain } = createServices({ config, storage, clock, reporter, log });
    const tls = config.listen.tls && watchTlsFiles(config.listen.tls, log);
    const http = await createHttpServer({
      services,
      tokenLifeSeconds: config.accounts.tokenLifeMs / 1_000,
      v1TokenLifeSeconds: config.accounts.v1TokenLifeMs / 1_000,
      version: readVersion(),
      dashboard: { ...config.dashboard, signup: config.accounts.signup },
      ...(tls !== undefined && { tls }),
      ping: () => storage.ping(),
      metricsText: () => metrics.metricsText(),
      metricsContentType,
      reporter,
      log,
    });
    const { host, httpPort: port } = config.listen;
    await http.listen({ host, port });
    const close = async () => {
      await closeAll({ http, drain, storage, log });
      tls?.close();
    };
    return { url: urlOf(http, config), ...admin, close };
  } catch (error) {
    await storage.close();
    throw error;
  }
}

const idleSweepMs = 50;

async function closeAll(parts: {
  readonly http: HttpServer;
  readonly drain: () => Promise<void>;
  readonly storage: Storage;
  readonly log: Log;
}): Promise<void> {
  const { http, drain, storage, log } = parts;
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
  await drain();
  await storage.close();
}

function urlOf(http: HttpServer, config: Config): string {
  const { address, port } = http.server.address() as AddressInfo;
  const host = address === '0.0.0.0' || address === '::' ? '127.0.0.1' : address;
  const scheme = config.listen.tls === undefined ? 'http' : 'https';
  return `${scheme}://${host.includes(':') ? `[${host}]` : host}:${port}`;
}
