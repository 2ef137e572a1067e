import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { adminPassword, type Call, createCall, passwordOf, type Reply } from '../service.ts';
import { type ServiceProcess, startProcess } from '../service-process.ts';
import { type HonestClient, type Round, startHonestClient } from './honest-client.ts';

/** As everybody starts it, with the settings of memory that it comes with. */
const launcher = fileURLToPath(new URL('../../bin/kipimo.js', import.meta.url));

/** The real program in a heap of 1 GiB, with an honest client beside whoever attacks it. */
export interface Neighbourhood extends AsyncDisposable {
  readonly url: string;
  readonly mqttUrl: string;
  readonly directory: string;
  readonly process: ServiceProcess;
  readonly honest: HonestClient;
  call(request: Call): Promise<Reply>;
  /** A token of a user who signs up like any stranger; cached. */
  tokenOf(username: string): Promise<string>;
  /**
   * Runs an attack while the honest client goes on; then three rounds more. Fails when a push, a
   * delivery, a login or an alarm of the honest client is refused or takes longer than 2 s; else
   * answers the longest that it waited for each, in milliseconds.
   */
  attack(attack: () => Promise<unknown>): Promise<Round>;
  /** Stops the program (drain, or kill -9), starts it again, and serves the honest client. */
  restart(signal?: 'SIGTERM' | 'SIGKILL'): Promise<void>;
}

export interface NeighbourhoodOptions {
  readonly environment?: Readonly<Record<string, string>>;
  readonly nodeFlags?: readonly string[];
}

/** What anybody who waits for an answer accepts at most, on a machine that is under attack. */
export const servedMsMax = Number(process.env['NEIGHBOURS_MS'] ?? 2_000);
const roundsAfter = 3;
/** In which a program that ends without memory has said so. */
const endMs = 2_000;

export async function startNeighbourhood(
  options: NeighbourhoodOptions = {},
): Promise<Neighbourhood> {
  const directory = mkdtempSync(join(tmpdir(), 'kipimo-neighbours-'));
  const start = () =>
    startProcess({
      directory,
      program: launcher,
      environment: {
        NODE_OPTIONS: ['--max-old-space-size=1024', ...(options.nodeFlags ?? [])].join(' '),
        KIPIMO_ADMIN_PASSWORD: adminPassword,
        KIPIMO_WEBHOOK_PRIVATE: 'allowed',
        KIPIMO_LOG_LEVEL: 'info',
        ...options.environment,
      },
    });
  let running = await start();
  let call = createCall(running.url);
  const tokens = new Map<string, Promise<string>>();
  const honest = await startHonestClient(() => ({ ...running, call }));

  function assertAlive(): void {
    const died = /leaving after an error|FATAL ERROR/.exec(running.output() + running.errors());
    assert.equal(died, null, `the program died: ${running.output().slice(-2_000)}`);
  }

  async function serveHonest(when: string, longest?: Record<string, number>): Promise<void> {
    const times = await honest.round().catch(async (error: unknown) => {
      // A broken connection is how the end of the program shows first.
      await Promise.race([running.exited, sleep(endMs)]);
      assertAlive();
      throw error;
    });
    for (const [what, ms] of Object.entries(times)) {
      assert.ok(ms <= servedMsMax, `${when}: the honest client's ${what} took ${ms} ms`);
      if (longest !== undefined) longest[what] = Math.max(longest[what] ?? 0, ms);
    }
    assertAlive();
  }

  return {
    get url() {
      return running.url;
    },
    get mqttUrl() {
      return running.mqttUrl;
    },
    get process() {
      return running;
    },
    directory,
    honest,
    call: (request) => call(request),
    tokenOf(username) {
      const known = tokens.get(username) ?? logIn(call, username);
      tokens.set(username, known);
      return known;
    },
    async attack(attack) {
      await serveHonest('before the attack');
      const longest = { push: 0, delivery: 0, alarm: 0, login: 0 };
      let isOver = false;
      const attacking = attack().finally(() => {
        isOver = true;
      });
      // A failure of the attack itself is told at the end, not as an unhandled rejection.
      attacking.catch(() => undefined);
      while (!isOver) await serveHonest('during the attack', longest);
      await attacking;
      for (let round = 0; round < roundsAfter; round += 1) await serveHonest('after the attack');
      return longest;
    },
    async restart(signal = 'SIGTERM') {
      await honest.pause();
      running.kill(signal);
      const exit = await running.exited;
      if (signal === 'SIGTERM') assert.deepEqual(exit, { code: 0, signal: null });
      running = await start();
      call = createCall(running.url);
      tokens.clear();
      await honest.resume();
      await serveHonest('after a restart');
    },
    async [Symbol.asyncDispose]() {
      await honest[Symbol.asyncDispose]();
      await running[Symbol.asyncDispose]();
      rmSync(directory, { recursive: true, force: true });
    },
  };
}

async function logIn(call: (request: Call) => Promise<Reply>, username: string): Promise<string> {
  const credentials = { username, password: passwordOf(username) };
  if (username !== 'admin') {
    const made = await call({ method: 'POST', path: '/users', json: credentials });
    assert.ok([200, 422].includes(made.status), `no account for ${username}: ${made.text}`);
  }
  const reply = await call({ method: 'POST', path: '/auth/token', json: credentials });
  assert.equal(reply.status, 200, `no token for ${username}: ${reply.text}`);
  return reply.text;
}
