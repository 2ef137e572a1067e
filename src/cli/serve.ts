import { spawn } from 'node:child_process';
import { setFlagsFromString } from 'node:v8';
import { Command } from 'commander';
import type { RunningApp } from '../app/app.ts';
import { readVersion } from '../app/version.ts';
import type { Config } from '../config/config.ts';
import { environmentOfOthers, loadConfigHere, watchSettings } from '../config/environment-file.ts';
import { limits } from '../domain/limits.ts';
import { saveMemoryWhileIdle } from '../lib/idle-memory.ts';
import type { Log } from '../lib/log.ts';
import { createPinoLog } from '../telemetry/pino-log.ts';
import { dataDirOption } from './data-dir-option.ts';
import { leaveUnread } from './output.ts';
import { stopWithNpm, waitForStopSignal } from './stop-signal.ts';

/** `kipimo serve`: the service, until SIGTERM or SIGINT. */
export function createServeCommand(): Command {
  return new Command('serve')
    .description(
      'Start the service. Settings come from the environment and from .env in this directory; ' +
        'docs/configuration.md lists them. SIGTERM or Ctrl-C drains and stops; a second one ' +
        'stops at once.',
    )
    .option('--port <number>', 'where HTTP listens, instead of KIPIMO_HTTP_PORT')
    .option(...dataDirOption)
    .option('--open', 'open the dashboard in the browser; at the first start, logged in')
    .action(serve);
}

async function serve(options: {
  readonly port?: string;
  readonly dataDir?: string;
  readonly open?: true;
}): Promise<void> {
  const letYoungGenerationGrow = keepYoungGenerationSmall();
  saveMemoryWhileIdle();
  const { config, secrets } = loadConfigHere({
    KIPIMO_HTTP_PORT: options.port,
    KIPIMO_DATA_DIR: options.dataDir,
  });
  const changedSettings = watchSettings();
  const log = createPinoLog({ level: config.log.level });
  const stopped = waitForStopSignal();
  stopWithNpm();
  // Nothing acknowledged is lost by leaving: the store is made to survive it. Staying after an
  // uncaught error would mean going on with an unknown state.
  process.on('uncaughtException', (err) => {
    log.error({ err }, 'leaving after an error that nothing caught');
    process.exit(1);
  });
  process.stdout.off('error', leaveUnread).on('error', surviveClosedPipe);
  const { startApp } = await import('../app/app.ts');
  const { adminUsername } = config.accounts;
  const app = await startApp({
    ...{ config, secrets, log, changedSettings },
    // The reason is in the log. Staying would mean to answer with rights that have ended.
    onReplaced: () => process.exit(1),
    // A terminal is read by who started the service; any other output may be a log for others.
    makesFirstLink: process.stdout.isTTY,
    // Outside of the log, which blots passwords and may be off: it is not shown a second time.
    onGeneratedPassword(password) {
      process.stdout.write(
        `Created administrator "${adminUsername}" with password ${password} ` +
          '(write it down, it is not shown again).\n',
      );
    },
  });
  const address = addressFor(app, config);
  announce(app, { address, config, log });
  setTimeout(letYoungGenerationGrow, limits.startSettledMs).unref();
  if (options.open === true) openInBrowser(address);
  const signal = await stopped;
  log.info({ signal }, 'stopping');
  // Nothing acknowledged is lost by leaving before every connection is closed.
  setTimeout(() => {
    log.error({ afterMs: limits.stopMs }, 'leaving before all parts have stopped');
    process.exit(0);
  }, limits.stopMs).unref();
  await app.close();
  log.info({}, 'stopped');
  process.exit(0);
}

/** Ignores EPIPE: the reader of our output is gone; the service has others to serve. */
function surviveClosedPipe(error: NodeJS.ErrnoException): void {
  if (error.code !== 'EPIPE') throw error;
}

/** Where the dashboard is for a browser on this machine; at the first start, with its secret. */
function addressFor({ url, firstLoginSecret }: RunningApp, { listen }: Config): string {
  const base = new URL(
    listen.publicUrl ?? url.replace(/\/\/(127\.0\.0\.1|\[::1\]):/, '//localhost:'),
  );
  // Behind the #, which browsers keep to themselves: no log of a server or proxy has it.
  return new URL(firstLoginSecret === undefined ? '/' : `/first#${firstLoginSecret}`, base).href;
}

function announce(
  app: RunningApp,
  options: { readonly address: string; readonly config: Config; readonly log: Log },
): void {
  const { address, config, log } = options;
  const version = readVersion();
  const { engine, directory } = config.storage;
  if (!process.stdout.isTTY) {
    const { url, mqttUrl, mqttsUrl } = app;
    log.info({ version, url, mqttUrl, mqttsUrl, directory }, 'listening');
    return;
  }
  process.stdout.write(
    `Kipimo ${version} is ready.\n` +
      `  dashboard  ${address}\n` +
      (app.firstLoginSecret === undefined
        ? ''
        : '             logs the admin in, once, within an hour, and asks for a new password\n') +
      `  API        ${app.url}/api/v2\n` +
      `  reference  ${app.url}/docs\n` +
      `  MQTT       ${[app.mqttUrl, app.mqttsUrl ?? []].flat().join(', ')}\n` +
      `  data in    ${engine === 'sqlite' ? directory : 'PostgreSQL'}\n`,
  );
}

/** The program of each platform that opens an address in the browser that is set there. */
const openers: Readonly<Partial<Record<NodeJS.Platform, readonly [string, ...string[]]>>> = {
  darwin: ['open'],
  win32: ['cmd', '/c', 'start', ''],
};

/** Opens an address in the browser and does not wait for it; says in one line if there is none. */
function openInBrowser(address: string): void {
  const [program, ...words] = openers[process.platform] ?? ['xdg-open'];
  const complain = (): void => {
    process.stderr.write(`kipimo: ${program} could not open a browser\n`);
  };
  const child = spawn(program, [...words, address], {
    detached: true,
    stdio: 'ignore',
    env: environmentOfOthers(),
  });
  child.once('error', complain);
  child.once('exit', (code) => {
    if (code !== 0 && code !== null) complain();
  });
  child.unref();
}

/** Sets the growth factor of V8's young generation, once as much as it holds survived. */
const growth = (factor: number): void => setFlagsFromString(`--semi-space-growth-factor=${factor}`);

/**
 * Keeps the young generation as small as it began, until the answer is called. While a service
 * starts, nearly all that is made stays, which V8 takes for a reason to grow the young generation
 * up to its maximum, and it keeps that for good. Afterwards it grows in two steps: the objects of a
 * push live as long as its commit, and those that are taken for old meanwhile are collected late
 * [decision 0012].
 */
function keepYoungGenerationSmall(): () => void {
  growth(1);
  return () => growth(4);
}
