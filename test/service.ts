import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type AppOptions, type RunningApp, startApp } from '../src/app/app.ts';
import type { OpenChannels } from '../src/channels/index.ts';
import { loadConfig } from '../src/config/config.ts';
import type { Clock } from '../src/lib/clock.ts';
import { systemClock } from '../src/lib/clock.ts';
import { type Log, silentLog } from '../src/lib/log.ts';
import type { PasswordCost } from '../src/lib/password-hash.ts';
import type { Storage } from '../src/storage/storage.ts';
import { requireDocumented } from './answer-check.ts';
import { engine, engineEnvironment } from './engine.ts';
import { exchange } from './http-client.ts';
import { putMadeDatabase } from './made-database.ts';
import { callInV1, replyFromV1 } from './v1/dialect.ts';

export const adminPassword = 'admin-password-1';

/** Accounts of tests are guarded by nothing: their hashes are as quick as argon2 allows. */
const quickPasswords: PasswordCost = { memoryKibibytes: 8, passes: 1 };

export interface ServiceOptions {
  /** A data directory to keep; default: a temporary one that goes with the service. */
  readonly directory?: string;
  readonly clock?: Clock;
  readonly log?: Log;
  /** KIPIMO_… keys beside those the test service sets. */
  readonly environment?: Readonly<Record<string, string>>;
  /** Instead of those the configuration names. */
  readonly channels?: OpenChannels;
  /** Where the built web app is, instead of its usual place. */
  readonly dashboardFolder?: string;
  /** How long peers may take. */
  readonly timeouts?: AppOptions['timeouts'];
  /** A first start from a terminal: the password is made up, and there is a link to log in by. */
  readonly isStartedByHand?: boolean;
  /** Puts faults or counters between the app and its storage. */
  readonly wrapStorage?: (storage: Storage) => Storage;
}

/** The real app on a free port, and a client for its API. */
export interface Service {
  readonly url: string;
  readonly mqttUrl: string;
  readonly app: RunningApp;
  /** Of the admin, when it was started by hand for the first time. */
  readonly generatedPassword: string | undefined;
  /** Sends a request to a path below /api/v2. */
  call(request: Call): Promise<Reply>;
  /** A token for a user; creates the account when it does not exist. Cached per service. */
  tokenOf(username: string): Promise<string>;
  /** Sends as this user; 'guest' sends without a token, 'admin' as the admin. */
  as(username: string): (request: Omit<Call, 'token'>) => Promise<Reply>;
  [Symbol.asyncDispose](): Promise<void>;
}

export interface Call {
  readonly method?: string;
  /** Below /api/v2, or from the root with a double slash in front. */
  readonly path: string;
  readonly token?: string;
  /** Sent as JSON. */
  readonly json?: unknown;
  /** Sent as it is; text/plain unless `type` says otherwise. */
  readonly body?: string | Uint8Array;
  readonly type?: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** A fault of the service was planted: it may answer 500, which no route documents. */
  readonly mayFail?: boolean;
}

export interface Reply {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  /** The body as JSON; undefined when it is empty or no JSON. */
  readonly json: unknown;
}

export async function startService(options: ServiceOptions = {}): Promise<Service> {
  const temporary =
    options.directory === undefined ? mkdtempSync(join(tmpdir(), 'kipimo-test-')) : undefined;
  const directory = options.directory ?? (temporary as string);
  if (temporary !== undefined && engine === 'sqlite') putMadeDatabase(temporary);
  const clock = options.clock ?? systemClock;
  const log = options.log ?? silentLog;
  const { config, secrets } = loadConfig({
    KIPIMO_HOST: '127.0.0.1',
    KIPIMO_HTTP_PORT: '0',
    KIPIMO_MQTT_PORT: '0',
    KIPIMO_DATA_DIR: directory,
    ...engineEnvironment(directory),
    ...(options.isStartedByHand !== true && { KIPIMO_ADMIN_PASSWORD: adminPassword }),
    ...(process.env['TEST_FAST_PATH'] !== undefined && {
      KIPIMO_SHORT_WAY: process.env['TEST_FAST_PATH'],
    }),
    // Most tests are about messages, not about who may get the first one.
    KIPIMO_PROVE_ADDRESSES: 'off',
    KIPIMO_SMS_CREDIT_NEW: 'unlimited',
    // Tests of version 2 that run in version 1 as well expect tokens to live as long.
    ...(process.env['TEST_API'] === 'v1' && {
      KIPIMO_V1_TOKEN_TTL_S: options.environment?.['KIPIMO_TOKEN_TTL_S'] ?? '600',
    }),
    ...options.environment,
  });
  let generatedPassword: string | undefined;
  const app = await startApp({
    onGeneratedPassword: (password) => {
      generatedPassword = password;
    },
    ...{ config, secrets, log, clock, makesFirstLink: options.isStartedByHand === true },
    passwordCost: quickPasswords,
    ...(options.wrapStorage !== undefined && { wrapStorage: options.wrapStorage }),
    ...(options.timeouts !== undefined && { timeouts: options.timeouts }),
    ...(options.channels !== undefined && { channels: options.channels }),
    ...(options.dashboardFolder !== undefined && { dashboardFolder: options.dashboardFolder }),
  });
  const call = inVersion(process.env['TEST_API'] ?? 'v2', app.url);
  const tokenOf = createTokens(call);
  return {
    url: app.url,
    mqttUrl: app.mqttUrl,
    app,
    generatedPassword,
    call,
    tokenOf,
    as: (username) => async (request) =>
      username === 'guest' ? call(request) : call({ ...request, token: await tokenOf(username) }),
    async [Symbol.asyncDispose]() {
      await app.close();
      if (temporary !== undefined) rmSync(temporary, { recursive: true, force: true });
    },
  };
}

/** The API: of version 2, or in the words of version 1 for the same tests once more. */
function inVersion(version: string, url: string): Service['call'] {
  if (version === 'v2') return (request) => send(url, request);
  if (version !== 'v1') throw new Error(`TEST_API must be v1 or v2, got ${version}`);
  return async (request) => replyFromV1(request, await send(url, callInV1(request)));
}

function createTokens(call: Service['call']): Service['tokenOf'] {
  const tokens = new Map<string, Promise<string>>();
  const login = async (username: string) => {
    const password = passwordOf(username);
    if (username !== 'admin') {
      await call({ method: 'POST', path: '/users', json: { username, password } });
    }
    const reply = await call({
      method: 'POST',
      path: '/auth/token',
      json: { username, password },
    });
    if (reply.status !== 200) throw new Error(`no token for ${username}: ${reply.text}`);
    return reply.text;
  };
  return (username) => {
    const known = tokens.get(username) ?? login(username);
    tokens.set(username, known);
    return known;
  };
}

/** The password of a test user. */
export function passwordOf(username: string): string {
  return username === 'admin' ? adminPassword : `password of ${username}`;
}

/** A client for a service that runs anywhere: paths below /api/v2 of its address. */
export function createCall(url: string): Service['call'] {
  return (request) => send(url, request);
}

async function send(url: string, request: Call): Promise<Reply> {
  const { method = 'GET', path, token, json, body, type, headers = {} } = request;
  const target = path.startsWith('//') ? url + path.slice(1) : `${url}/api/v2${path}`;
  const sentType = type ?? (json === undefined ? 'text/plain' : 'application/json');
  const sentBody = json === undefined ? body : JSON.stringify(json);
  const answer = await exchange(target, {
    method,
    headers: {
      ...(token !== undefined && { authorization: `Bearer ${token}` }),
      ...(sentBody !== undefined && sentType !== '' && { 'content-type': sentType }),
      ...headers,
    },
    body: sentBody,
  });
  const { status, text, path: sentPath } = answer;
  if (request.mayFail !== true || status !== 500) {
    const contentType = answer.headers.get('content-type');
    requireDocumented({ method, path: sentPath, text, status, contentType });
  }
  return { status, headers: answer.headers, text, json: parsed(text) };
}

function parsed(text: string): unknown {
  if (text === '') return undefined;
  try {
    return JSON.parse(text);
  } catch {
    // Not JSON: the test looks at the text.
    return undefined;
  }
}
