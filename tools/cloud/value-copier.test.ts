import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import type { JsonValue } from '../../src/lib/json.ts';
import { formatTimestamp, parseTimestamp } from '../../src/lib/timestamp.ts';
import type { ApiAnswer, ApiClient } from '../client/api-client.ts';
import type { Checkpoint, ProgressFile } from './progress-file.ts';
import { createTally } from './tally.ts';
import { copyValues } from './value-copier.ts';

interface Point {
  readonly value: JsonValue;
  readonly timestamp?: string;
  readonly date_received: string;
}

const orderTimeOf = ({ timestamp, date_received }: Point): number =>
  parseTimestamp(timestamp ?? date_received) ?? Number.NaN;

const unused = () => assert.fail('not used here');
const noRemote: ApiClient = {
  ...{
    url: 'http://fake',
    call: unused,
    open: unused,
    need: unused,
    authorize: unused,
    logIn: unused,
  },
  pause: () => Promise.resolve(),
};

/** How a source behaves: some cap pages, some break answers off, some leave offsets alone. */
interface Manner {
  readonly pageMax: number;
  /** After so many bytes an answer breaks; over and over, each time further on. */
  readonly breakAfter: number;
}

function sourceOf(points: readonly Point[], { pageMax, breakAfter }: Manner): ApiClient {
  const nothing: ApiAnswer = { status: 200, text: '[]', json: [], total: undefined };
  const sorted = points.toSorted((a, b) => orderTimeOf(a) - orderTimeOf(b));
  let reads = 0;
  return {
    ...noRemote,
    // Asked beyond its end only.
    call: () => Promise.resolve(nothing),
    async open(path) {
      reads += 1;
      const query = new URL(path, 'http://fake').searchParams;
      const from = parseTimestamp(query.get('dateFrom') ?? '') ?? Number.NEGATIVE_INFINITY;
      const offset = Number(query.get('offset'));
      const all = sorted.filter((point) => orderTimeOf(point) >= from).slice(offset);
      const page = all.slice(0, Math.min(pageMax, Number(query.get('limit'))));
      const text = JSON.stringify(page);
      const isBroken = reads % 3 === 0 && page.length > 0;
      return {
        ...{ status: 200, total: undefined, reason: unused },
        pieces: (async function* () {
          const bytes = Buffer.from(text);
          yield isBroken ? bytes.subarray(0, breakAfter) : bytes;
          if (isBroken) throw new TypeError('terminated');
        })(),
      };
    },
  };
}

/** A target that stores what has the same timestamp and value once, and may be cut off. */
function createTarget() {
  const stored = new Map<string, [string, JsonValue]>();
  const state = { pushesLeft: Number.POSITIVE_INFINITY, lines: 0 };
  const answer = (json: JsonValue): ApiAnswer => ({
    ...{ status: 200, text: '', json, total: stored.size },
  });
  const remote: ApiClient = {
    ...noRemote,
    async call({ method, path, lines = '' }) {
      if (method === 'GET') {
        const seen = new URL(path, 'http://fake').searchParams.get('dateFrom');
        return answer([...stored.values()].filter(([at]) => at === seen).map(([at]) => at));
      }
      if (state.pushesLeft <= 0) throw new Error('the importer was killed');
      state.pushesLeft -= 1;
      const points = lines.trim().split('\n');
      state.lines += points.length;
      for (const text of points) {
        const { value, timestamp } = JSON.parse(text) as { value: JsonValue; timestamp: string };
        const at = formatTimestamp(parseTimestamp(timestamp) ?? 0);
        stored.set(`${at} ${JSON.stringify(value)}`, [at, value]);
      }
      return answer({ stored: points.length, refused: [], refused_count: 0 });
    },
  };
  return { remote, state, stored };
}

function createMemory(): ProgressFile {
  const checkpoints = new Map<string, Checkpoint>();
  return {
    find: (sensor) => checkpoints.get(sensor),
    async set(sensor, checkpoint) {
      checkpoints.set(sensor, checkpoint);
    },
    save: () => Promise.resolve(),
    remove: () => Promise.resolve(),
  };
}

const sensor = { deviceId: 'd', sensorId: 's' };

const copy = (source: ApiClient, target: ApiClient, progress: ProgressFile) =>
  copyValues(
    sensor,
    { source, target, progress, tally: createTally(() => undefined), linesPerPush: 3 },
    () => undefined,
  );

const base = 1_700_000_000_000;
const instants = fc.integer({ min: 0, max: 40 }).map((ms) => formatTimestamp(base + ms * 50));
const values = fc.constantFrom<JsonValue>(1, 2, '1', null, { sensors: [1] });
/** Some of a device with a clock, some without; twins among both. */
const points: fc.Arbitrary<readonly Point[]> = fc.array(
  fc.oneof(
    fc.record({ value: values, timestamp: instants, date_received: instants }),
    fc.record({ value: values, date_received: instants }),
  ),
  { maxLength: 60 },
);
const manners = fc.record({
  pageMax: fc.integer({ min: 1, max: 20 }),
  breakAfter: fc.integer({ min: 1, max: 400 }),
});

const kills = fc.array(fc.integer({ min: 0, max: 4 }), { maxLength: 6 });

/** Copies with all these interruptions, then to the end; answers what is there, in order. */
async function copyInPieces(
  all: readonly Point[],
  manner: Manner,
  killed: readonly number[],
): Promise<readonly string[]> {
  const { remote, state, stored } = createTarget();
  const progress = createMemory();
  for (const pushes of [...killed, Number.POSITIVE_INFINITY]) {
    state.pushesLeft = pushes;
    const copying = copy(sourceOf(all, manner), remote, progress);
    await (pushes === Number.POSITIVE_INFINITY ? copying : copying.catch(() => undefined));
  }
  return [...stored.keys()].toSorted();
}

const whole: Manner = { pageMax: 1_000, breakAfter: 1_000_000 };

test('values with a clock are equal in the end, however often a copy is cut off', async () => {
  const timed = points.map((all) => all.filter(({ timestamp }) => timestamp !== undefined));
  await fc.assert(
    fc.asyncProperty(timed, manners, kills, async (all, manner, killed) => {
      const keys = all.map(({ timestamp, value }) => `${timestamp} ${JSON.stringify(value)}`);
      assert.deepEqual(await copyInPieces(all, manner, killed), [...new Set(keys)].toSorted());
    }),
  );
});

test('values without a clock are there as often as they were, at the time of receipt', async () => {
  const clockless = points.map((all) => all.filter(({ timestamp }) => timestamp === undefined));
  await fc.assert(
    fc.asyncProperty(clockless, manners, kills, async (all, manner, killed) => {
      const there = await copyInPieces(all, manner, killed);
      assert.equal(there.length, all.length);
      const first = new Set(all.map((p) => `${p.date_received} ${JSON.stringify(p.value)}`));
      assert.ok(first.isSubsetOf(new Set(there)));
    }),
  );
});

test('a copy that was cut off gives what one in a single run gives', async () => {
  await fc.assert(
    fc.asyncProperty(points, manners, kills, async (all, manner, killed) => {
      const inOneRun = await copyInPieces(all, whole, []);
      assert.deepEqual(await copyInPieces(all, manner, killed), inOneRun);
    }),
  );
});

test('a copy that goes on pushes only what it had not pushed', async () => {
  const all = Array.from({ length: 30 }, (_, n) => {
    const at = formatTimestamp(base + n);
    return { value: n, timestamp: at, date_received: at };
  });
  const { remote, state, stored } = createTarget();
  const progress = createMemory();
  state.pushesLeft = 8;
  await assert.rejects(copy(sourceOf(all, whole), remote, progress));
  assert.equal(state.lines, 24);
  state.pushesLeft = Number.POSITIVE_INFINITY;
  await copy(sourceOf(all, whole), remote, progress);
  // The last value before the stop may be pushed once more: it may have a twin behind it.
  assert.ok(state.lines <= 31, `${state.lines} lines for 30 values`);
  // Into an empty place all is copied, whatever is remembered.
  stored.clear();
  await copy(sourceOf(all, whole), remote, progress);
  assert.equal(stored.size, 30);
});
