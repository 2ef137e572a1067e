// In a process of its own: it starts database servers and processes, and breaks what is between.
import { describe, test } from 'node:test';
import { hasHaproxy } from '../haproxy.ts';
import { hasPostgres } from '../postgres-server.ts';
import { longestPause, startGauge } from './gauge.ts';
import { openPatroniCluster, type PatroniCluster, patroniFaults, ways } from './patroni-cluster.ts';
import { isOlder, patroniVersion } from './patroni-servers.ts';
import { openStory } from './story.ts';
import { requireRight } from './verdict.ts';

const seed = Number(process.env['NEMESIS_SEED'] ?? Math.floor(Math.random() * 2 ** 31));
/** Parts of the names of those that are inflicted; absent: all. */
const chosen = process.env['NEMESIS_FAULTS']?.split(';');

const wanted = patroniFaults.filter(
  ({ name }) => chosen?.some((part) => name.includes(part)) ?? true,
);
const { borne: faults = [], tooNew = [] } = Object.groupBy(wanted, ({ since = '0' }) =>
  isOlder(patroniVersion ?? '0', since) ? 'tooNew' : 'borne',
);
const skip =
  !(hasPostgres() && hasHaproxy && patroniVersion !== undefined) &&
  "needs Debian's packages postgresql, patroni, etcd-server and haproxy";

const gauged = ways.map((way, at) => ({ way, sensor: `G${at}` }));
const seconds = (ms: number): string => `${(ms / 1_000).toFixed(1)} s`;

describe('on three servers of Patroni', { skip }, () => {
  test('nothing acknowledged is lost, and each process finds the next primary', async (context) => {
    const say = (line: string) => context.diagnostic(line);
    say(`NEMESIS_SEED=${seed}, Patroni ${patroniVersion}`);
    for (const { name, since } of tooNew) say(`left out, as it takes Patroni ${since}: ${name}`);
    await using ends = new AsyncDisposableStack();
    await using story = await openStory<PatroniCluster>({
      ...{ seed, faults, moreSensors: gauged.map(({ sensor }) => sensor) },
      async open(history) {
        const cluster = await openPatroniCluster(history);
        for (const [at, member] of cluster.members.entries()) {
          const gauge = startGauge(history, member, `G${at}`);
          ends.defer(() => gauge.stop());
        }
        return cluster;
      },
      describe: (history, from, until) =>
        gauged
          .map(({ way, sensor }) => [way, longestPause(history, { sensor, from, until })] as const)
          .map(([way, ms]) => `; by ${way} nothing was written for ${seconds(ms)}`)
          .join(''),
    });
    await story.round(say);
    await ends.disposeAsync();
    requireRight(await story.conclude(say), seed);
  });
});
