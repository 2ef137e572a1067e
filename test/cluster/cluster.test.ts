// In a process of its own: it starts database servers and processes, and breaks what is between.
import assert from 'node:assert/strict';
import { describe, type TestContext, test } from 'node:test';
import { setTimeout as wait } from 'node:timers/promises';
import { findPostgres } from '../postgres-server.ts';
import { emptyHistory } from './history.ts';
import { type Fault, faults, replacement, seenOfGivenUp } from './nemesis.ts';
import { openCluster, openStory, type PairOptions, type QuietCluster } from './story.ts';
import { requireRight } from './verdict.ts';

const isAbsent = process.env['TEST_POSTGRES'] === 'off' || findPostgres() === undefined;
const roundsChosen = process.env['NEMESIS_ROUNDS'];
const rounds = Number(roundsChosen ?? 1);
const seed = Number(process.env['NEMESIS_SEED'] ?? Math.floor(Math.random() * 2 ** 31));
/** Parts of the names of those that are inflicted; absent: all. */
const chosen = process.env['NEMESIS_FAULTS']?.split(';');
/** Only runs with so many processes; absent: all. */
const processesChosen = process.env['NEMESIS_PROCESSES'];
/** The start file of another version, in a checkout of it. */
const otherProgram = process.env['NEMESIS_OTHER_PROGRAM'];
const minutesOfBoth = Number(process.env['NEMESIS_MINUTES'] ?? 10);

const wanted = faults.filter(
  ({ name, isByHand }) =>
    chosen?.some((part) => name.includes(part)) ??
    (isByHand !== true || roundsChosen !== undefined),
);

const leftOut = (processes: number) => ({
  skip: (processesChosen ?? `${processes}`) === `${processes}` ? false : 'other runs were chosen',
});

/** Says what became of it, and how long until all were served again. */
async function tell(
  context: TestContext,
  options: PairOptions,
  run: { readonly faults: readonly Fault[]; readonly firstMs?: number } = { faults: wanted },
) {
  const say = (line: string) => context.diagnostic(line);
  say(`NEMESIS_SEED=${seed}`);
  await using story = await openStory<QuietCluster>({
    ...{ seed, faults: run.faults },
    open: (history) => openCluster(options, history),
  });
  await wait(run.firstMs ?? 0);
  for (let round = 1; round <= rounds; round += 1) await story.round(say);
  requireRight(await story.conclude(say), seed);
}

describe('under a nemesis', { skip: isAbsent ? 'needs PostgreSQL' : false }, () => {
  test(
    'one process loses nothing, doubles nothing and keeps the order',
    leftOut(1),
    async (context) => {
      await tell(context, { processes: 1 });
    },
  );

  test(
    'three processes lose nothing, double nothing, keep the order, and take back at once',
    leftOut(3),
    async (context) => {
      await tell(context, { processes: 3 });
    },
  );

  test('two versions lose nothing together, double nothing, and the newer one goes on alone', {
    skip: otherProgram === undefined ? 'NEMESIS_OTHER_PROGRAM names no other version' : false,
    timeout: minutesOfBoth * 60_000 + 300_000,
  }, async (context) => {
    const faults = [replacement];
    const firstMs = minutesOfBoth * 60_000;
    const options = { processes: 3, ...(otherProgram && { firstProgram: otherProgram }) };
    await tell(context, options, { faults, firstMs });
  });

  test('a process that was given up takes nothing any more', leftOut(3), async () => {
    const history = emptyHistory();
    await using cluster = await openCluster({ processes: 3 }, history);
    assert.deepEqual([...(await seenOfGivenUp(cluster)), ...history.oddities], []);
  });
});
