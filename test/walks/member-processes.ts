import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onServer, type PostgresServer, schemaUrl } from '../postgres-server.ts';
import { adminPassword, type Call, createCall, passwordOf, type Reply } from '../service.ts';
import { runProgram, type ServiceProcess, startProcess } from '../service-process.ts';

/** One of several processes that serve the same database. */
export interface MemberProcess extends AsyncDisposable {
  readonly running: ServiceProcess;
  call(request: Call): Promise<Reply>;
  /** Runs a command on the same database. */
  run(...words: readonly string[]): ReturnType<typeof runProgram>;
}

/** Empties a schema; the answer starts one more process on it, which comes by that port if told. */
export async function membersOf(
  server: PostgresServer,
  schema: string,
  more: Readonly<Record<string, string>> = {},
): Promise<(link?: { readonly port: number }) => Promise<MemberProcess>> {
  await onServer(server.url, `drop schema if exists ${schema} cascade`);
  const url = await schemaUrl(server.url, schema);
  const shared = {
    KIPIMO_DATABASE_URL: url,
    KIPIMO_PROCESSES: 'several',
    KIPIMO_ADMIN_PASSWORD: adminPassword,
    KIPIMO_WEBHOOK_PRIVATE: 'allowed',
    ...more,
  };
  return async (link) => {
    const near = new URL(url);
    if (link !== undefined) near.port = String(link.port);
    const environment = link === undefined ? shared : { ...shared, KIPIMO_DATABASE_URL: near.href };
    const directory = mkdtempSync(join(tmpdir(), 'kipimo-member-'));
    const running = await startProcess({ directory, environment });
    return {
      running,
      call: createCall(running.url),
      run: (...words) => runProgram(words, { directory, environment }),
      async [Symbol.asyncDispose]() {
        await running[Symbol.asyncDispose]();
        rmSync(directory, { recursive: true, force: true });
      },
    };
  };
}

/** Two processes on a schema that was emptied, and a device of ama's with a sensor and a pump. */
export async function fieldOf(server: PostgresServer, schema: string) {
  const start = await membersOf(server, schema);
  const one = await start();
  const other = await start();
  const ama = await signUp(one, 'ama');
  const json = { id: 'field', sensors: [{ id: 's' }], actuators: [{ id: 'pump' }] };
  const made = await one.call({ method: 'POST', path: '/devices', token: ama, json });
  assert.equal(made.status, 204);
  return { one, other, ama };
}

/** Answers a token. */
export async function signUp(
  { call }: Pick<MemberProcess, 'call'>,
  username: string,
): Promise<string> {
  const json = { username, password: passwordOf(username) };
  assert.equal((await call({ method: 'POST', path: '/users', json })).status, 200);
  const login = await call({ method: 'POST', path: '/auth/token', json });
  assert.equal(login.status, 200, login.text);
  return login.text;
}
