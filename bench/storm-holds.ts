// How long the main thread is held by what a guest, or an account that has just signed up, may send
// beside bodies: sockets, subscriptions, lists, logins.
// node bench/storm-holds.ts [a part of a name] [public devices, default 20000] [folder of profiles]
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { setTimeout as wait } from 'node:timers/promises';
import { chunkStorms, connectionStorms, deviceStorms, requestStorms } from './http-storms.ts';
import { startMetered } from './metered-service.ts';
import { clientStorms, packetStorms, subscriptionStorms } from './mqtt-storms.ts';
import { createContext, numbers } from './storm-context.ts';

const [, , part = '', publicDevices = '20000', profiles] = process.argv;
const directory = mkdtempSync(join(tmpdir(), 'kipimo-storms-'));
const kinds = [
  ...[requestStorms, connectionStorms, chunkStorms, deviceStorms],
  ...[clientStorms, subscriptionStorms, packetStorms],
];

function fill(): void {
  using database = new DatabaseSync(join(directory, 'kipimo.db'));
  const device = database.prepare(
    `insert into devices (id, owner, visibility, created_at, modified_at, details)
     values (?, ?, null, 1, 1, ?)`,
  );
  const sensor = database.prepare(
    'insert into sensors (device_id, sensor_id, details) values (?, ?, ?)',
  );
  database.exec('begin');
  for (const n of numbers(Number(publicDevices))) {
    device.run(`filled-${n}`, `owner${n % 500}`, JSON.stringify({ name: `Device ${n}` }));
    sensor.run(`filled-${n}`, 's', JSON.stringify({ name: 'Temperature', unit: 'degC' }));
  }
  database.exec('commit');
}

async function main(): Promise<void> {
  await (await startMetered(directory))[Symbol.asyncDispose]();
  fill();
  await using service = await startMetered(directory, profiles);
  const context = await createContext(service, Number(publicDevices));
  console.log('worked  own   held longest collection  ms');
  for (const [what, storm] of kinds.flatMap((kind) => Object.entries(kind(context)))) {
    if (!what.includes(part)) continue;
    await service.holds();
    const answer = await storm();
    await wait(500);
    const { max, workedMax, ownMax, collectedMax } = await service.holds();
    const told = [workedMax, ownMax, max, collectedMax].map((one) => one.toFixed(1).padStart(6));
    console.log(`${told.join(' ')}  ${what}: ${String(answer)}`);
  }
  // Its profiles are written when it ends by itself.
  service.kill('SIGTERM');
  await service.exited;
}

try {
  await main();
} finally {
  rmSync(directory, { recursive: true, force: true });
}
