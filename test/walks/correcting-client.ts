import assert from 'node:assert/strict';

/** Where late datapoints go; more than a walk pushes. */
const latePlaces = 2 ** 22;

interface Made {
  readonly id: string;
  /** What it took away, or what stood there before. */
  readonly restores: ReadonlyMap<string, number>;
}

/** One client that pushes to a sensor and corrects what it pushed, over many runs and crashes. */
export interface CorrectingClient {
  /** One step of many kinds; throws when the service is killed meanwhile. */
  step(url: string, number: number): Promise<void>;
  /** Brings the one step that nobody heard of to an end, and compares everything. */
  verify(url: string): Promise<void>;
  readonly counts: { readonly shown: number; readonly made: number };
}

/**
 * A client that knows what is so, and what it sent and never heard of. A push has so many newer
 * datapoints, and so many late ones of long ago, in any order.
 */
export function createCorrectingClient(options: {
  /** Of the sensor, from the root. */
  readonly path: string;
  readonly perPush: number;
  readonly latePerPush: number;
}): CorrectingClient {
  const { path, perPush, latePerPush } = options;
  const shown = new Map<string, number>();
  const made: Made[] = [];
  let pushed = 0;
  let lately = 0;
  let unheard: { readonly settle: (ids: ReadonlySet<string>) => void } | undefined;
  let repeat: unknown;

  async function call(url: string, method: string, below: string, json?: unknown) {
    const body = json === undefined ? {} : { body: JSON.stringify(json) };
    const headers = { 'content-type': 'application/json' };
    const reply = await fetch(`${url}${path}${below}`, { method, headers, ...body });
    const text = await reply.text();
    assert.ok(reply.ok, `${method} ${below}: ${reply.status} ${text}`);
    return text === '' ? undefined : (JSON.parse(text) as unknown);
  }

  const newestTimes = (count: number): readonly string[] =>
    [...shown.keys()].toSorted().slice(-count);

  async function push(url: string): Promise<void> {
    const newer = Array.from({ length: perPush }, (_, n) => ({
      timestamp: new Date(1_700_000_000_000 + (pushed + n) * 1_000).toISOString(),
      value: pushed + n,
    }));
    // Each of them once, as their number has no divisor in common with the factor.
    const late = Array.from({ length: latePerPush }, (_, n) => {
      const place = ((lately + n) * 7_919) % latePlaces;
      return {
        timestamp: new Date(1_600_000_000_000 + place * 1_000).toISOString(),
        value: place + 0.5,
      };
    });
    pushed += perPush;
    lately += latePerPush;
    const datapoints = [...late, ...newer];
    repeat = datapoints;
    for (const { timestamp, value } of datapoints) shown.set(timestamp, value);
    await call(url, 'POST', '/values', datapoints);
  }

  /** Applies what a correction does once it is known whether it was made, and under which id. */
  async function correct(url: string, times: readonly string[], value?: number): Promise<void> {
    const [first, last] = [times[0] ?? '', times.at(-1) ?? ''];
    const apply = (id: string): void => {
      made.push({ id, restores: new Map(times.map((time) => [time, shown.get(time) ?? 0])) });
      for (const time of times) {
        if (value === undefined) shown.delete(time);
        else shown.set(time, value);
      }
    };
    const known = new Set(made.map(({ id }) => id));
    unheard = {
      settle(ids) {
        const id = [...ids].find((one) => !known.has(one));
        if (id !== undefined) apply(id);
      },
    };
    const query = `/values?dateFrom=${first}&dateTo=${last}`;
    const answer =
      value === undefined
        ? await call(url, 'DELETE', query)
        : await call(
            url,
            'PATCH',
            '/values',
            times.map((timestamp) => ({ timestamp, value })),
          );
    unheard = undefined;
    apply((answer as { correction: string }).correction);
  }

  async function undo(url: string): Promise<void> {
    const one = made.at(-1);
    if (one === undefined) return;
    const apply = (): void => {
      made.pop();
      for (const [time, value] of one.restores) shown.set(time, value);
    };
    unheard = { settle: (ids) => void (ids.has(one.id) || apply()) };
    await call(url, 'DELETE', `/corrections/${one.id}`);
    unheard = undefined;
    apply();
  }

  return {
    async step(url: string, number: number): Promise<void> {
      if (number % 5 === 1 || shown.size < 20) await push(url);
      else if (number % 5 === 2) await correct(url, newestTimes(3));
      else if (number % 5 === 3) await correct(url, newestTimes(2), -number);
      else if (number % 5 === 4) await undo(url);
      else if (repeat !== undefined) await call(url, 'POST', '/values', repeat);
    },
    async verify(url: string): Promise<void> {
      if (repeat !== undefined) await call(url, 'POST', '/values', repeat);
      const listed = (await call(url, 'GET', '/corrections')) as readonly { id: string }[];
      const ids = new Set(listed.map(({ id }) => id));
      unheard?.settle(ids);
      unheard = undefined;
      assert.deepEqual(ids, new Set(made.map(({ id }) => id)));
      const read = await call(url, 'GET', '/values?limit=1000000');
      const found = (read as readonly { timestamp: string; value: number }[]).map(
        ({ timestamp, value }) => [timestamp, value] as const,
      );
      const expected = [...shown].toSorted(([a], [b]) => (a < b ? -1 : 1));
      assert.deepEqual(found, expected);
    },
    get counts() {
      return { shown: shown.size, made: made.length };
    },
  };
}
