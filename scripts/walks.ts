// Which files and functions one request enters, in all threads of a service just started:
// node scripts/walks.ts [--files] [push | read | firing | message | screen …]
import { mkdtempSync, rmSync } from 'node:fs';
import { request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { connect } from '../test/mqtt/mqtt-clients.ts';
import { findPostgres, schemaUrl, sharedPostgres } from '../test/postgres-server.ts';
import { adminPassword, createCall, type Service } from '../test/service.ts';
import { type ServiceProcess, startProcess } from '../test/service-process.ts';
import type { Entered } from './walk-counter.ts';

const { values, positionals } = parseArgs({
  options: { files: { type: 'boolean', default: false } },
  allowPositionals: true,
});
const print = (text: string): void => void process.stdout.write(`${text}\n`);
/** So long the last timers of a start or a request take. */
const quietMs = 1_500;
/** So long a delivery takes that only logs its message. */
const deliveryMs = 150;

/** A service whose functions are counted. */
interface Counted extends ServiceProcess {
  readonly socketPath: string;
}

async function start(directory: string, name: string, more = {}): Promise<Counted> {
  const socketPath = join(directory, `${name}.sock`);
  rmSync(socketPath, { force: true });
  const service = await startProcess({
    directory,
    nodeFlags: ['--import', new URL('walk-counter.ts', import.meta.url).href],
    environment: {
      WALK_SOCKET: socketPath,
      KIPIMO_ADMIN_PASSWORD: adminPassword,
      KIPIMO_PROVE_ADDRESSES: 'off',
      KIPIMO_SMTP_URL: 'log:',
      ...more,
    },
  });
  return Object.assign(service, { socketPath });
}

/** Functions that the service entered since the last call, of all threads. */
function take({ socketPath }: Counted, path = '/take'): Promise<readonly Entered[]> {
  return new Promise((resolve, reject) => {
    request({ socketPath, path }, (answer) => {
      let text = '';
      answer.setEncoding('utf8').on('data', (part: string) => {
        text += part;
      });
      answer.on('end', () => resolve(JSON.parse(text) as Entered[]));
    })
      .on('error', reject)
      .end();
  });
}

/** Runs one walk and prints what the services entered on it. */
async function walk(name: string, services: readonly Counted[], work: () => Promise<unknown>) {
  if (positionals.length > 0 && !positionals.includes(name)) return;
  await wait(quietMs);
  for (const service of services) await take(service, '/begin');
  await work();
  const files = new Map<string, Set<string>>();
  for (const service of services) {
    for (const [file, functions] of (await take(service)).flatMap(Object.entries)) {
      files.set(file, (files.get(file) ?? new Set()).union(new Set(functions as string[])));
    }
  }
  const functions = files.values().reduce((sum, of) => sum + of.size, 0);
  print(`${name.padEnd(8)} ${files.size} files, ${functions} functions`);
  if (!values.files) return;
  for (const file of [...files.keys()].sort()) print(`  ${files.get(file)?.size} ${file}`);
}

type Ask = (method: string, path: string, json?: unknown) => Promise<{ readonly json: unknown }>;

const login = { username: 'ama', password: 'password of ama' };

/** Asks as ama, who signs up the first time; `known` is the token of an earlier call. */
async function asAma({ url }: ServiceProcess, known?: string): Promise<[Ask, string]> {
  const call = createCall(url);
  const json = { ...login, email: 'ama@example.org' };
  if (known === undefined) await call({ method: 'POST', path: '/users', json });
  const token = known ?? (await call({ method: 'POST', path: '/auth/token', json: login })).text;
  const ask: Ask = async (method, path, json) => {
    const reply = await call({ method, path, token, json });
    if (reply.status >= 300) throw new Error(`${method} ${path}: ${reply.status} ${reply.text}`);
    return reply;
  };
  return [ask, token];
}

/** A device with a history, and an alert on its second sensor. */
async function fill(ask: Ask): Promise<void> {
  await ask('POST', '/devices', { id: 'tank', name: 'Tank' });
  await ask('POST', '/devices/tank/sensors', { id: 'level' });
  await ask('POST', '/devices/tank/sensors', { id: 'heat' });
  const from = Date.now() - 86_400_000;
  const history = Array.from({ length: 500 }, (_, at) => ({
    value: at % 50,
    timestamp: new Date(from + at * 60_000).toISOString(),
  }));
  await ask('POST', '/devices/tank/sensors/level/values', history);
  await ask('POST', '/devices/tank/sensors/heat/value', { value: 1 });
  await ask('POST', '/notifications', {
    condition: { devices: ['tank'], expression: 'heat > 30' },
    action: { usernames: ['ama'], channels: ['email'], message: 'Too hot' },
  });
}

async function walkOne(directory: string): Promise<void> {
  const first = await start(directory, 'first');
  const [fillIn, token] = await asAma(first);
  await fill(fillIn);
  first.kill('SIGTERM');
  await first.exited;
  await using service = await start(directory, 'second');
  const [ask] = await asAma(service, token);
  await walk('push', [service], () =>
    ask('POST', '/devices/tank/sensors/level/value', { value: 7 }),
  );
  await walk('firing', [service], async () => {
    await ask('POST', '/devices/tank/sensors/heat/value', { value: 31 });
    // The message leaves after the answer.
    await wait(deliveryMs);
  });
  // Last, as their connections are handed to node:http for good.
  const query = 'aggregate=avg&interval=1h&dateFrom=2020-01-01';
  await walk('read', [service], () => ask('GET', `/devices/tank/sensors/level/values?${query}`));
  await walk('screen', [service], async () => {
    await createCall(service.url)({ path: '//' });
    await Promise.all([
      ...[ask('GET', '/devices'), ask('GET', '/devices/tank')],
      ask('GET', '/devices/tank/sensors/level/values?points=300&dateFrom=2020-01-01'),
    ]);
  });
}

/** A message between clients of two processes that serve one database. */
async function walkTwo(directory: string): Promise<void> {
  const server = await sharedPostgres();
  const url = await schemaUrl(server.url, `walks_${process.pid}`);
  const several = { KIPIMO_DATABASE_URL: url, KIPIMO_PROCESSES: 'several' };
  try {
    await using one = await start(directory, 'one', several);
    await using two = await start(directory, 'two', several);
    const [ask] = await asAma(one);
    await ask('POST', '/devices', { id: 'tank', name: 'Tank' });
    const service = { tokenOf: async () => '' } as unknown as Service;
    await using sender = await connect(service, { url: one.mqttUrl, ...login });
    await using receiver = await connect(service, { url: two.mqttUrl, ...login });
    await receiver.subscribe('devices/tank/chat', 1);
    await walk('message', [one, two], async () => {
      await sender.publish('devices/tank/chat', 'hello', { qos: 1 });
      await receiver.got(1);
    });
  } finally {
    await server.close();
  }
}

const directory = mkdtempSync(join(tmpdir(), 'kipimo-walks-'));
try {
  await walkOne(directory);
  if (findPostgres() !== undefined) await walkTwo(directory);
} finally {
  rmSync(directory, { recursive: true, force: true });
}
