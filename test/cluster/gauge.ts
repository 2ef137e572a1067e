import { setTimeout as wait } from 'node:timers/promises';
import type { History } from './history.ts';
import { deviceId, exchangeJson, type HttpTarget, type Load, startPusher } from './http-load.ts';

const pauseMs = 50;

/** A client that writes to one process alone all the while, to see how long it could not. */
export interface Gauge extends Load {
  readonly sensor: string;
}

/** Starts it; it begins when the device is there that the other clients send to. */
export function startGauge(history: History, target: HttpTarget, sensor: string): Gauge {
  let isOver = false;
  const making = make(target, sensor, () => isOver);
  const pushing = making.then((isMade) =>
    isMade ? startPusher(history, [target], { sensor, isTimed: true, pauseMs }) : undefined,
  );
  return {
    sensor,
    async stop() {
      isOver = true;
      await (await pushing)?.stop();
    },
  };
}

async function make({ url }: HttpTarget, sensor: string, isOver: () => boolean): Promise<boolean> {
  while (!isOver()) {
    const path = `/api/v2/devices/${deviceId}/sensors`;
    const reply = await exchangeJson(`${url}${path}`, { method: 'POST', json: { id: sensor } });
    if (reply !== undefined && reply.status < 300) return true;
    await wait(pauseMs);
  }
  return false;
}

/** The longest time between two acknowledgements of a sensor that overlaps these moments. */
export function longestPause(
  { sent }: History,
  {
    sensor,
    from,
    until,
  }: { readonly sensor: string; readonly from: number; readonly until: number },
): number {
  const times = sent
    .filter((one) => one.sensor === sensor && one.outcome === 'acknowledged')
    .map(({ answeredAt }) => answeredAt)
    .toSorted((one, other) => one - other);
  const moments = [...times.filter((at) => at < until), until];
  return moments.reduce((longest, at, index) => {
    const before = moments[index - 1] ?? from;
    return at < from ? longest : Math.max(longest, at - before);
  }, 0);
}
