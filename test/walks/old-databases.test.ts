import assert from 'node:assert/strict';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { brotliDecompressSync } from 'node:zlib';
import { temporaryDirectory } from '../contract/storage/temporary-directory.ts';
import { embedded } from '../engine.ts';
import { createManualClock } from '../manual-clock.ts';
import { askAs, readWorld, retainedMessage, takeMessages } from '../old-databases/world.ts';
import { type Service, startService } from '../service.ts';
import { createRecordingChannels } from '../v2/recording-channels.ts';
import { assertDone } from '../v2/refusal.ts';

/** What test/old-databases/make.ts wrote beside a database. */
interface Told {
  readonly madeAt: string;
  readonly secret: string;
  readonly key: string;
  readonly answers: Readonly<Record<string, unknown>>;
}

const folder = join(import.meta.dirname, '..', 'old-databases');
const versions = readdirSync(folder)
  .filter((name) => name.endsWith('.sqlite.br'))
  .map((name) => name.slice(0, -'.sqlite.br'.length));

const toldOf = (version: string): Told =>
  JSON.parse(readFileSync(join(folder, `${version}.json`), 'utf8')) as Told;

/** A data directory as that version left it. */
function unpack(version: string, directory: string): void {
  const packed = readFileSync(join(folder, `${version}.sqlite.br`));
  writeFileSync(join(directory, 'kipimo.db'), brotliDecompressSync(packed));
  writeFileSync(join(directory, 'secret'), `${toldOf(version).secret}\n`);
}

/** Of what is answered now, what was answered then: later versions may add to an object. */
function knownThen(now: unknown, then: unknown): unknown {
  if (Array.isArray(now) && Array.isArray(then)) {
    return now.map((item, index) => (index < then.length ? knownThen(item, then[index]) : item));
  }
  if (!isRecord(now) || !isRecord(then)) return now;
  const names = Object.keys(now).filter((name) => Object.hasOwn(then, name));
  return Object.fromEntries(names.map((name) => [name, knownThen(now[name], then[name])]));
}

const isRecord = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** Means and sums have 15 significant digits from version 0.2 on. */
const withDigits = (value: unknown): unknown =>
  JSON.parse(JSON.stringify(value), (_, one: unknown) =>
    typeof one === 'number' ? Number(one.toPrecision(15)) : one,
  );

/** Without the last login: those who ask log in for it. */
const withoutLogins = (value: unknown): unknown =>
  JSON.parse(JSON.stringify(value), (name, one: unknown) =>
    name === 'last_login' ? undefined : one,
  );

async function pushLevel(service: Service, key: string, value: number): Promise<void> {
  const path = '/devices/farm/sensors/level/value';
  assertDone(await service.call({ method: 'POST', path, token: key, json: { value } }));
}

for (const version of versions) {
  embedded(`a database of version ${version} reads the same, and goes on`, async (context) => {
    const directory = temporaryDirectory(context);
    unpack(version, directory);
    const { madeAt, key, answers } = toldOf(version);
    const clock = createManualClock(Date.parse(madeAt) + 60_000);
    const channels = createRecordingChannels(['sms']);
    await using service = await startService({ directory, clock, channels: channels.open });
    const now = await readWorld(service);
    for (const [question, then] of Object.entries(answers)) {
      const isRounded = question.includes('aggregate=');
      const expected = isRounded ? withDigits(then) : withoutLogins(then);
      assert.deepEqual(knownThen(now[question], expected), expected, question);
    }

    // What waited for a session, and what a topic kept.
    const missed = await takeMessages(service, 1);
    assert.deepEqual(missed, { isKept: true, texts: ['{"value":33} 1 false'] });
    assert.equal(await retainedMessage(service), '{"value":33} true');

    // The alarm that was told waits until the level was low, and the window goes on.
    for (const value of [40, 20, 35]) await pushLevel(service, key, value);
    await channels.until(1);
    const ama = await askAs(service, 'ama');
    const { json } = await ama({ path: '/notifications' });
    const before = answers['ama /notifications'] as readonly { readonly times_sent: number }[];
    assert.deepEqual(
      (json as typeof before).map(
        ({ times_sent }, at) => times_sent - (before[at]?.times_sent ?? 0),
      ),
      [2, 0, 0],
    );
    assert.deepEqual(
      channels.sent.map(({ text }) => text),
      ['Level 35'],
    );
  });
}
