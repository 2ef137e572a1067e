import { setTimeout as wait } from 'node:timers/promises';
import { onServer } from '../postgres-server.ts';
import type { ServiceProcess } from '../service-process.ts';
import { deviceId, exchangeJson, sensorPath } from './http-load.ts';
import type { Member } from './member.ts';
import { type PostgresPair, schema, urlOnPort } from './postgres-pair.ts';

/** What the nemesis can reach. */
export interface Cluster {
  readonly members: readonly Member[];
  readonly database: PostgresPair;
}

/** Numbers from 0 to 1 that follow from a seed. */
export type Random = () => number;

/** Something that goes wrong, and is mended by its end but for what the service has to mend. */
export interface Fault<Reached = Cluster> {
  readonly name: string;
  /** Inflicted where rounds or faults are chosen, by hand: in CI it would take too long. */
  readonly isByHand?: boolean;
  inflict(cluster: Reached, random: Random): Promise<void>;
}

/** The same numbers for the same seed (mulberry32). */
export function createRandom(seed: number): Random {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** All of them in an order that follows from the numbers. */
export function shuffled<One>(all: readonly One[], random: Random): readonly One[] {
  return all
    .map((one) => ({ one, at: random() }))
    .sort((a, b) => a.at - b.at)
    .map(({ one }) => one);
}

const anyOf = <One>(all: readonly One[], random: Random): One => {
  const one = all[Math.floor(random() * all.length)];
  if (one === undefined) throw new Error('there is none');
  return one;
};

const stopMs = 10_000;
const cutMs = 3_000;
/** Longer than what a beat of a member may be missed for. */
const silenceMs = 8_000;
const slowMs = 40;
/** Of the one link that is slower than all others, each way. */
const verySlowMs = 500;
/** How long a start may take that is slow; then it goes on as fast as others. */
const slowStartMsMax = Number(process.env['NEMESIS_START_MS'] ?? 60_000);
const calmMs = 1_000;
/** In which the others give up a process that stands still, also on a busy machine. */
const givenUpMsMax = 30_000;
/** How long a process that was given up may go on, refusing everything. */
const endMsMax = 10_000;

function signal(member: Member, name: 'SIGKILL' | 'SIGTERM' | 'SIGSTOP' | 'SIGCONT'): boolean {
  const pid = member.running()?.pid;
  if (pid === undefined) return false;
  try {
    return process.kill(pid, name);
  } catch {
    // It ended just now.
    return false;
  }
}

/** For a while the links of one process to the database are in this state. */
const linkFault = (name: string, state: 'cut' | 'silent' | 'deaf' | 'mute', ms: number): Fault => ({
  name,
  async inflict({ members }, random) {
    const { database } = anyOf(members, random);
    database.set(state);
    await wait(ms);
    // What a network swallowed for long is not sent again: the far side has given up.
    if (state !== 'cut' && random() < 0.5) database.breakOff();
    database.set('open');
  },
});

const restartFault = (how: 'SIGINT' | 'SIGQUIT' | 'SIGKILL', name: string): Fault => ({
  name,
  inflict: ({ database }) => database.restart(how),
});

/** The standby takes over; nobody reaches the server of before, as its address leads to that. */
async function failOver({ members, database }: Cluster): Promise<void> {
  for (const member of members) member.database.set('cut');
  await database.promote();
  for (const member of members) {
    member.database.lead(database.port);
    member.database.set('open');
  }
}

export const replacement: Fault<Pick<Cluster, 'members'>> = {
  name: 'all processes are replaced one after the other',
  async inflict({ members }) {
    for (const member of members) {
      const livesBefore = member.lives();
      if (!signal(member, 'SIGTERM')) continue;
      while (member.lives() === livesBefore) await wait(20);
    }
  },
};

/** Faults of processes, whatever they serve. */
export const processFaults: readonly Fault<Pick<Cluster, 'members'>>[] = [
  {
    name: 'a process is killed',
    async inflict({ members }, random) {
      signal(anyOf(members, random), 'SIGKILL');
    },
  },
  {
    name: 'a process stands still for 10 s',
    async inflict({ members }, random) {
      const member = anyOf(members, random);
      signal(member, 'SIGSTOP');
      await wait(stopMs);
      signal(member, 'SIGCONT');
    },
  },
  replacement,
];

/** Every fault that one process on a database with a standby has to bear. */
export const faults: readonly Fault[] = [
  ...processFaults,
  linkFault('a process is cut off from the database', 'cut', cutMs),
  linkFault('a process is cut off from the database without being told', 'silent', silenceMs),
  linkFault('a process hears nothing of the database', 'deaf', cutMs),
  linkFault('a process is not heard by the database', 'mute', cutMs),
  {
    name: 'the database is slow',
    async inflict({ members }) {
      for (const { database } of members) database.delay(slowMs);
      await wait(cutMs);
      for (const { database } of members) database.delay(0);
    },
  },
  {
    name: 'the link of one process is slow',
    isByHand: true,
    async inflict({ members }, random) {
      const { database } = anyOf(members, random);
      database.delay(verySlowMs);
      await wait(silenceMs);
      database.delay(0);
    },
  },
  {
    name: 'a process is killed, and its start takes up to a minute',
    isByHand: true,
    async inflict({ members }, random) {
      const member = anyOf(members, random);
      const livesBefore = member.lives();
      member.database.delay(verySlowMs);
      signal(member, 'SIGKILL');
      const untilMs = performance.now() + slowStartMsMax;
      while (member.lives() === livesBefore && performance.now() < untilMs) await wait(20);
      member.database.delay(0);
    },
  },
  {
    name: 'the disk of the database is full',
    isByHand: true,
    inflict: async ({ database }) => database.fillDisk?.(cutMs),
  },
  restartFault('SIGINT', 'the database is restarted'),
  restartFault('SIGKILL', 'the database is killed and started again'),
  {
    name: 'the database is killed and the standby promoted',
    async inflict(cluster) {
      await failOver(cluster);
      await cluster.database.pairUp();
    },
  },
  {
    name: 'commits wait for a standby that is cut off, connections are lost, it is promoted',
    async inflict(cluster) {
      const { members, database } = cluster;
      database.standbyLink.set('silent');
      await wait(500);
      // Whoever connects again sees commits that the standby has not.
      for (const member of members) member.database.breakOff();
      await wait(2_000);
      await failOver(cluster);
      await database.pairUp();
    },
  },
];

/**
 * What a process does that the others gave up while it stood still, and may not, in words. Nothing
 * is asked of it before: one that is stopped within a commit loses its connection, and ends.
 */
export async function seenOfGivenUp({ members, database }: Cluster): Promise<readonly string[]> {
  const [member] = members;
  const slept = member?.running();
  if (member === undefined || slept === undefined) throw new Error('nothing runs');
  const json = { id: deviceId, sensors: [{ id: 's' }] };
  await exchangeJson(`${slept.url}/api/v2/devices`, { method: 'POST', json });
  await wait(calmMs);
  signal(member, 'SIGSTOP');
  const isLost = await isGivenUp(database);
  signal(member, 'SIGCONT');
  return isLost ? seenOf(member, slept) : [`nobody gave ${member.name} up`];
}

/** Resolves when a process that serves was given up; false: for long enough none was. */
async function isGivenUp({ port }: PostgresPair): Promise<boolean> {
  const count = `select count(*)::integer as lost from ${schema}.members where state = 'lost'`;
  const lost = async () => (await onServer(urlOnPort(port), count)).rows[0].lost;
  const before = await lost();
  const untilMs = performance.now() + givenUpMsMax;
  while (performance.now() < untilMs) {
    if ((await lost()) > before) return true;
    await wait(calmMs);
  }
  return false;
}

/** What a process that was given up does and may not: it takes a value, or goes on. */
async function seenOf({ name }: Member, slept: ServiceProcess): Promise<readonly string[]> {
  const path = `${sensorPath('s')}/value`;
  const ended = slept.exited.then(() => 'ended' as const);
  const untilMs = performance.now() + endMsMax;
  while (performance.now() < untilMs) {
    const json = { value: 'after it was given up' };
    const reply = await exchangeJson(`${slept.url}${path}`, { method: 'POST', json });
    if (reply?.status === 204) return [`${name} was given up, and took a value`];
    if ((await Promise.race([ended, wait(50, 'serves' as const)])) === 'ended') return [];
  }
  return [`${name} was given up, and serves after ${endMsMax} ms`];
}
