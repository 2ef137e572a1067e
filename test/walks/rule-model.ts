import assert from 'node:assert/strict';
import { setTimeout as wait } from 'node:timers/promises';
import { onServer } from '../postgres-server.ts';
import { type MemberProcess, signUp } from './member-processes.ts';

/** How often each rule of a field fired, in the order in which they were made. */
export type Firings = readonly number[];

/** A device with rules on it, at processes that share a database. */
export interface Field {
  /** Of ama. */
  readonly token: string;
  /** Answers the status. */
  tryPush(at: MemberProcess, sensor: string, value: number): Promise<number>;
  /** A push that is to be stored. */
  push(at: MemberProcess, sensor: string, value: number): Promise<void>;
  firings(at: MemberProcess): Promise<Firings>;
}

/** Ama's device with these sensors, and a rule on all of them for each expression. */
export async function makeField(
  { call }: MemberProcess,
  sensors: readonly string[],
  expressions: readonly string[],
  throttling?: number,
): Promise<Field> {
  const ama = await signUp({ call }, 'ama');
  const json = { id: 'field', sensors: sensors.map((id) => ({ id })) };
  assert.equal((await call({ method: 'POST', path: '/devices', token: ama, json })).status, 204);
  const ids: string[] = [];
  for (const expression of expressions) {
    const made = await call({
      ...{ method: 'POST', path: '/notifications', token: ama },
      json: {
        condition: { devices: ['field'], sensors, expression },
        action: { usernames: ['ama'], channels: ['webhook'], message: 'it is hot' },
        ...(throttling !== undefined && { throttling }),
      },
    });
    assert.ok(made.status < 300, made.text);
    ids.push(made.text);
  }
  async function tryPush(at: MemberProcess, sensor: string, value: number): Promise<number> {
    const path = `/devices/field/sensors/${sensor}/value`;
    return (await at.call({ method: 'POST', path, token: ama, json: { value } })).status;
  }
  return {
    token: ama,
    tryPush,
    push: async (at, sensor, value) => assert.equal(await tryPush(at, sensor, value), 204),
    async firings(at) {
      const counts: number[] = [];
      for (const id of ids) {
        const found = await at.call({ path: `/notifications/${id}/deliveries`, token: ama });
        assert.equal(found.status, 200, found.text);
        counts.push(Number(found.headers.get('x-total-count')));
      }
      return counts;
    },
  };
}

/** Rules of which `firingsOf` knows how often they fire. */
export const modelled: readonly string[] = [
  'a > 50; b > 50',
  'a > 50; b > 50 clear a < 30',
  'a > 80',
];

/** How often these fire when pushes are looked at in this order, each once. */
export function firingsOf(pushes: readonly { sensor: string; value: number }[]): Firings {
  const counts = [0, 0, 0];
  const count = (rule: number): void => {
    counts[rule] = (counts[rule] ?? 0) + 1;
  };
  const values = new Map<string, number>();
  let isRaised = false;
  for (const { sensor, value } of pushes) {
    values.set(sensor, value);
    const a = values.get('a') ?? 0;
    const holds = a > 50 && (values.get('b') ?? 0) > 50;
    if (holds) count(0);
    if (isRaised) isRaised = !(a < 30);
    else if (holds) {
      isRaised = true;
      count(1);
    }
    if (a > 80) count(2);
  }
  return counts;
}

/** The looks of a schema from now on, in the order of the commits that filed them. */
export async function keepEvaluations(serverUrl: string, schema: string) {
  await onServer(
    serverUrl,
    `set search_path to ${schema};
     create table kept_looks (place bigint, entry text);
     create function keep_look() returns trigger language plpgsql as
       $$begin insert into ${schema}.kept_looks values (new.place, new.entry); return new; end$$;
     create trigger keep_looks after insert on looks for each row execute function keep_look()`,
  );
  return {
    async pushes(): Promise<readonly { sensor: string; value: number }[]> {
      const kept = `select entry from ${schema}.kept_looks order by place`;
      const { rows } = await onServer(serverUrl, kept);
      return (rows as { entry: string }[]).map(({ entry }) => {
        const [, , sensor, { n }] = JSON.parse(entry) as [string, string, string, { n: number[] }];
        return { sensor, value: n[0] ?? 0 };
      });
    },
    async waiting(): Promise<number> {
      const count = `select count(*)::integer as n from ${schema}.looks`;
      return (await onServer(serverUrl, count)).rows[0].n;
    },
  };
}

/** Numbers below `max`, the same ones in each run. */
export function createNumbers(seed: number): (max: number) => number {
  let state = seed;
  return (max) => {
    state = (state * 48_271) % 2_147_483_647;
    return state % max;
  };
}

/** Throws when it does not become true in time. */
export async function until(
  isTrue: () => Promise<boolean>,
  what: string,
  patienceMs = 15_000,
): Promise<void> {
  const giveUpAt = performance.now() + patienceMs;
  while (!(await isTrue())) {
    assert.ok(performance.now() < giveUpAt, what);
    await wait(50);
  }
}
