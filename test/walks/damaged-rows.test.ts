import assert from 'node:assert/strict';
import { cpSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { connectAsync } from 'mqtt';
import { type Log, silentLog } from '../../src/lib/log.ts';
import { embedded } from '../engine.ts';
import { adminPassword, type Service, type ServiceOptions, startService } from '../service.ts';
import { startProcess } from '../service-process.ts';
import { createRecordingChannels } from '../v2/recording-channels.ts';

// Of each table the last row is damaged: it belongs to kofi, and ama must not notice.

const victim = 'kofi';
const witness = 'ama';

/** One of everything, by this person. */
async function makeWorld(service: Service, name: string): Promise<void> {
  const send = service.as(name);
  const post = async (path: string, json: unknown): Promise<string> => {
    const reply = await send({ method: 'POST', path, json });
    assert.ok(reply.status < 300, `${path}: ${reply.text}`);
    return reply.text;
  };
  const id = `${name}-device`;
  await send({ method: 'PUT', path: '/users/me', json: { phone: '+255712345678' } });
  await post('/devices', { id, sensors: [{ id: 'TC1' }], actuators: [{ id: 'fan' }] });
  await send({ method: 'PUT', path: `/devices/${id}/retention`, json: { raw_days: 9 } });
  await post('/gateways', { id: `${name}-gateway` });
  await send({ method: 'PUT', path: `/gateways/${name}-gateway/health`, json: { battery: 1 } });
  await post('/projects', { name: 'project', device_ids: [id] });
  const path = `/devices/${id}/grants/${witness === name ? victim : witness}`;
  await send({ method: 'PUT', path, json: ['device:view'] });
  await post('/auth/keys', { name: 'key' });
  await post('/invitations', { devices: [id] });
  await post('/socials', { username: name, channel: 'none', message: 'hello' });
  const action = { usernames: [name], channels: ['sms'], message: '{TC1}' };
  const rising = { devices: [id], expression: 'TC1 > 1 clear TC1 < 0' };
  await post('/notifications', { condition: rising, action });
  await post('/notifications', { condition: { sensors: ['TC1'] }, action });
  await post(`/devices/${id}/sensors/TC1/value`, { value: 5 });
  const client = await connectAsync(service.mqttUrl, {
    clientId: name,
    clean: false,
    username: name,
    password: await service.tokenOf(name),
  });
  const topic = `devices/${id}/sensors/TC1/value`;
  await client.subscribeAsync(topic, { qos: 1 });
  await client.publishAsync(topic, '6', { qos: 1, retain: true });
  await client.endAsync();
  // Waits for the session.
  const other = await connectAsync(service.mqttUrl, {
    username: name,
    password: await service.tokenOf(name),
  });
  await other.publishAsync(topic, '7', { qos: 1 });
  await other.endAsync();
}

interface Column {
  readonly name: string;
  readonly type: string;
  readonly pk: number;
}

/** The row is whole, and a part of what it says means nothing. */
const senseless = {
  senseless: `'$.condition.expression', 'TC1 >'`,
  accountless: `'$.action.accounts', json('[{"username": "kofi"}]')`,
  deviceless: `'$.condition.bound', json('{"id": "d"}')`,
} as const;

type Damage = 'broken' | 'strange' | keyof typeof senseless;

const garbage: Readonly<Record<Damage, Readonly<Record<string, string>>>> = {
  ...{ senseless: {}, accountless: {}, deviceless: {} },
  broken: { TEXT: "'{'", BLOB: "x'ff00'" },
  strange: { TEXT: '\'[{"constructor": null}]\'', BLOB: "x''", INTEGER: '-1' },
};

/** Columns that say which row it is, or whose: what they hold is checked by the tables. */
const naming =
  /^(id|hash|.*_id|device|owner|username|sender|recipient|position|kind|resource|series)$/;

const tablesOf = (database: DatabaseSync): readonly string[] =>
  database
    .prepare("select name from sqlite_schema where type = 'table' and name not like 'sqlite%'")
    .all()
    .map(({ name }) => String(name));

/** Writes garbage into the last row of a table; false: there is no row. */
function damage(database: DatabaseSync, table: string, kind: Damage): boolean {
  const columns = database.prepare(`pragma table_info(${table})`).all() as unknown as Column[];
  const primary = columns.filter(({ pk }) => pk > 0).map(({ name }) => name);
  const keys = primary.length > 0 ? primary : ['rowid'];
  const newest = `order by ${keys.map((key) => `${key} desc`)} limit 1`;
  const last = `(${keys}) = (select ${keys} from ${table} ${newest})`;
  if (kind !== 'broken' && kind !== 'strange') {
    const details = `details = json_set(details, ${senseless[kind]})`;
    return database.prepare(`update ${table} set ${details} where ${last}`).run().changes > 0;
  }
  const sets = columns.flatMap(({ name, type, pk }) => {
    const value = garbage[kind][type.toUpperCase()];
    return value === undefined || pk > 0 || naming.test(name) ? [] : [`${name} = ${value}`];
  });
  if (sets.length === 0) return false;
  return database.prepare(`update ${table} set ${sets} where ${last}`).run().changes > 0;
}

embedded('no stored row stops a start, or keeps others from being served', async (context) => {
  const origin = mkdtempSync(join(tmpdir(), 'kipimo-damage-'));
  context.after(() => rmSync(origin, { recursive: true, force: true }));
  const channels = createRecordingChannels(['sms']);
  const start = (directory: string, options: ServiceOptions = {}) =>
    startService({ directory, channels: channels.open, ...options });
  {
    await using service = await start(origin);
    await makeWorld(service, witness);
    await makeWorld(service, victim);
  }

  async function startsWith(kind: Damage, tables?: readonly string[]): Promise<void> {
    const directory = mkdtempSync(join(tmpdir(), 'kipimo-damaged-'));
    cpSync(origin, directory, { recursive: true });
    const database = new DatabaseSync(join(directory, 'kipimo.db'));
    database.exec('pragma foreign_keys = off');
    const hit = (tables ?? tablesOf(database)).filter((table) => damage(database, table, kind));
    database.close();
    const errors: string[] = [];
    const log: Log = { ...silentLog, error: (...words) => errors.push(JSON.stringify(words)) };
    try {
      await using service = await start(directory, { log });
      const send = service.as(witness);
      const told = channels.sent.length;
      const path = `/devices/${witness}-device/sensors/TC1/value`;
      const reply = await send({ method: 'POST', path, json: { value: 9 } });
      assert.equal(reply.status, 204, reply.text);
      await channels.until(told + 1);
      for (const list of ['devices', 'gateways', 'projects', 'notifications', 'users', 'socials']) {
        const { status, text } = await send({ path: `/${list}` });
        assert.equal(status, 200, `${list}: ${text}`);
      }
    } catch (reason) {
      throw new Error(`${kind} ${hit.join(', ')}: ${errors.join('\n')}`, { cause: reason });
    } finally {
      rmSync(directory, { recursive: true, force: true });
    }
  }

  const database = new DatabaseSync(join(origin, 'kipimo.db'), { readOnly: true });
  const tables = tablesOf(database).filter((table) => table !== 'health');
  database.close();
  for (const table of tables) {
    await context.test(`${table}, broken`, () => startsWith('broken', [table]));
  }
  for (const table of [
    'notifications',
    'notification_states',
    'retentions',
    'deliveries',
    'mqtt_queue',
  ]) {
    await context.test(`${table}, strange`, () => startsWith('strange', [table]));
  }
  for (const kind of ['senseless', 'accountless', 'deviceless'] as const) {
    await context.test(`notifications, ${kind}`, () => startsWith(kind, ['notifications']));
  }
  await context.test('all tables, strange', () => startsWith('strange', tables));
  await context.test('all tables, broken, counted', async () => {
    const damaged = new DatabaseSync(join(origin, 'kipimo.db'));
    damaged.exec('pragma foreign_keys = off');
    for (const table of tables) damage(damaged, table, 'broken');
    damaged.close();
    await using program = await startProcess({ directory: origin });
    const login = JSON.stringify({ username: 'admin', password: adminPassword });
    const headers = { 'content-type': 'application/json' };
    const url = `${program.url}/api/v2/auth/token`;
    const token = await (await fetch(url, { method: 'POST', headers, body: login })).text();
    const authorization = `Bearer ${token}`;
    const asked = await fetch(`${program.url}/metrics`, { headers: { authorization } });
    const metrics = await asked.text();
    for (const table of ['datapoint_log', 'notifications', 'mqtt_messages']) {
      assert.match(metrics, new RegExp(`rows_set_aside_total{table="${table}"} [1-9]`));
    }
    program.kill('SIGTERM');
    assert.equal((await program.exited).code, 0);
    const kept = new DatabaseSync(join(origin, 'kipimo.db'), { readOnly: true });
    assert.equal(kept.prepare('select count(*) as n from damaged_log_rows').get()?.['n'], 1);
    kept.close();
  });
});
