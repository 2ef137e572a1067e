import { globSync } from 'node:fs';
import { setTimeout as wait } from 'node:timers/promises';
import { temporaryDirectory } from '../contract/storage/temporary-directory.ts';
import { inSchema, onServer } from '../postgres-server.ts';
import { startClients } from './clients.ts';
import { emptyHistory, type History } from './history.ts';
import { readMarks } from './http-load.ts';
import { type Member, startMember } from './member.ts';
import { createRandom, type Fault, shuffled } from './nemesis.ts';
import { type PostgresPair, schema, startPair, urlOnPort } from './postgres-pair.ts';

/** Where what happens is told. */
type Say = (line: string) => void;

/** A run: processes, a database with its standby, clients, and what is done to them. */
export interface Story {
  /** Every fault once, in an order that follows from the seed. */
  round(say: Say): Promise<void>;
  /** Lets all come to rest and tells what happened. */
  conclude(say: Say): Promise<History>;
  [Symbol.asyncDispose](): Promise<void>;
}

export interface StoryOptions<Reached> {
  /** Starts the processes, and what they need; who fills the history sees it from the beginning. */
  open(history: History): Promise<Reached>;
  readonly seed: number;
  /** What is done to them, each once in a round. */
  readonly faults: readonly Fault<Reached>[];
  /** Sensors of whoever else fills the history. */
  readonly moreSensors?: readonly string[];
  /** More to tell of what was disturbed from one moment to another. */
  describe?(history: History, from: number, until: number): string;
}

/** How long after a fault until every client is served again. */
const recoveryMsMax = 30_000;
const calmMs = 1_000;

/** Processes of which nobody asks anything. */
export interface QuietProcesses extends AsyncDisposable {
  readonly members: readonly Member[];
  /** From now on ended with the rest, and before it. */
  defer(end: () => unknown): void;
}

/** The same on a database with its standby. */
export interface QuietCluster extends QuietProcesses {
  readonly database: PostgresPair;
}

/** How many processes there are on it. */
export interface PairOptions {
  readonly processes: number;
  /** What the first one runs until it is replaced: another version. Absent: this one. */
  readonly firstProgram?: string;
}

export async function openCluster(
  { processes, firstProgram }: PairOptions,
  history: History,
): Promise<QuietCluster> {
  const ends: (() => unknown)[] = [];
  const closeAll = async (): Promise<void> => {
    for (const end of ends.splice(0).toReversed()) await end();
  };
  try {
    const database = await startPair();
    ends.push(() => database.close());
    const members = await startMembers(processes, { firstProgram, history, database, ends });
    const defer = (end: () => unknown) => void ends.push(end);
    return { members, database, defer, [Symbol.asyncDispose]: closeAll };
  } catch (error) {
    await closeAll();
    throw error;
  }
}

/** Starts everything, with clients at work. */
export async function openStory<Reached extends QuietProcesses>(
  options: StoryOptions<Reached>,
): Promise<Story> {
  const { moreSensors = [], describe = () => '' } = options;
  const history = emptyHistory();
  const cluster = await options.open(history);
  const { members } = cluster;
  const closeAll = async (): Promise<void> => cluster[Symbol.asyncDispose]();
  try {
    const clients = await startClients(history, members);
    cluster.defer(() => clients.close());
    const random = createRandom(options.seed);
    return {
      async round(say) {
        for (const fault of shuffled(options.faults, random)) {
          await wait(calmMs * random());
          // A fault that meets clients before they are at work proves little.
          await untilServed(history, clients.served, performance.now());
          const beganAt = performance.now();
          await fault.inflict(cluster, random);
          const mendedAt = performance.now();
          const ms = await untilServed(history, clients.served, mendedAt);
          history.disturbed.push({ from: beganAt, until: mendedAt + ms });
          const began = `${(beganAt / 1_000).toFixed(2)} s ${fault.name}`;
          const took = Math.round(mendedAt - beganAt);
          const more = describe(history, beganAt, mendedAt + ms);
          say(`${began}: ${took} ms, all served after ${Math.round(ms)} ms${more}`);
        }
      },
      async conclude(say) {
        const said = await clients.conclude();
        await readAll(history, members, [...clients.sensors, ...moreSensors]);
        say(
          `${summaryOf(history)}; ${said}; lives ${members.map((one) => one.lives()).join(', ')}`,
        );
        say(`takeovers: ${takeoversOf(history)}`);
        return history;
      },
      [Symbol.asyncDispose]: closeAll,
    };
  } catch (error) {
    await closeAll();
    throw error;
  }
}

async function startMembers(
  processes: number,
  {
    firstProgram,
    history,
    database,
    ends,
  }: {
    readonly firstProgram: string | undefined;
    readonly history: History;
    readonly database: PostgresPair;
    readonly ends: (() => unknown)[];
  },
): Promise<readonly Member[]> {
  const directory = temporaryDirectory({ after: (end) => void ends.push(end) });
  await onServer(urlOnPort(database.port), `create schema ${schema}`);
  const members: Member[] = [];
  for (let number = 1; number <= processes; number += 1) {
    const member = await startMember({
      ...{ name: `process ${number}`, directory, history, databasePort: database.port },
      databaseUrl: (port) => inSchema(urlOnPort(port), schema),
      firstProgram: number === 1 ? firstProgram : undefined,
      environment: {
        KIPIMO_ADMIN_PASSWORD: 'admin-password-1',
        KIPIMO_WEBHOOK_PRIVATE: 'allowed',
        // Ten rounds take longer than a login lasts.
        KIPIMO_TOKEN_TTL_S: '86400',
        ...(processes > 1 && { KIPIMO_PROCESSES: 'several', ...clockOf(number) }),
      },
    });
    members.push(member);
    ends.push(() => member.close());
  }
  return members;
}

/** Debian's libfaketime, where it is installed. */
const faketime = globSync('/usr/lib/*/faketime/libfaketimeMT.so.1')[0];
/** How wrong the clocks of the second and of the third process are. */
const offsets = ['+0', '+120', '-120'];

/** The environment in which a process sees a wrong time; timers go by another clock. */
const clockOf = (number: number): Readonly<Record<string, string>> =>
  faketime === undefined
    ? {}
    : {
        LD_PRELOAD: faketime,
        FAKETIME: `${offsets[(number - 1) % offsets.length]}s`,
        FAKETIME_DONT_FAKE_MONOTONIC: '1',
      };

/** Resolves when each of these had a value acknowledged that was sent since; after how many ms. */
async function untilServed(
  history: History,
  served: readonly string[],
  since: number,
): Promise<number> {
  const waiting = new Set(served);
  for (;;) {
    for (const { sensor, outcome, answeredAt } of history.sent.slice(-1_000)) {
      if (outcome === 'acknowledged' && answeredAt > since) waiting.delete(sensor);
    }
    const ms = performance.now() - since;
    if (waiting.size === 0) return ms;
    if (ms > recoveryMsMax) {
      history.oddities.push(
        `${[...waiting].join(', ')}: nothing was taken for ${recoveryMsMax} ms`,
      );
      return ms;
    }
    await wait(20);
  }
}

/** What every process shows of every sensor, now that all is quiet. */
async function readAll(
  history: History,
  members: readonly Member[],
  sensors: readonly string[],
): Promise<void> {
  for (const { name, url, isReady } of members) {
    // It may have been given up a moment ago, and start again.
    const giveUpAt = performance.now() + recoveryMsMax;
    while (!(await isReady()) && performance.now() < giveUpAt) await wait(100);
    for (const sensor of sensors) {
      const marks = await readMarks(url, sensor);
      if (marks === undefined) history.oddities.push(`${name} does not show ${sensor}`);
      else history.stored.push({ at: name, sensor, beganAt: performance.now(), marks });
    }
  }
}

/** While nothing was broken, and in all. */
function takeoversOf({ takeovers, disturbed }: History): string {
  const isCalm = (at: number) => !disturbed.some(({ from, until }) => at > from && at < until);
  const calm = takeovers.filter(({ at }) => isCalm(at)).map(({ ms }) => ms);
  const inOrder = calm.toSorted((one, other) => one - other);
  const quantile = (part: number): string =>
    `${(inOrder[Math.floor(part * inOrder.length)] ?? Number.NaN).toFixed(1)} ms`;
  return (
    `${takeovers.length}, while nothing was broken ${calm.length}: ` +
    `median ${quantile(0.5)}, p99 ${quantile(0.99)}`
  );
}

function summaryOf({ sent, received, messages, reads }: History): string {
  const acknowledged = sent.filter(({ outcome }) => outcome === 'acknowledged').length;
  const again = sent.filter(({ sends }) => sends > 1).length;
  return (
    `${sent.length} sent, ${acknowledged} acknowledged, ${again} sent again, ` +
    `${received.length} received, ${messages.length} messages, ${reads.length} reads`
  );
}
