import type { Traffic } from '../tools/bench/load-slice.ts';
import { postJson } from './post-json.ts';

/** Devices of each kind, with two sensors and these rules on them; plain: nothing looks at them. */
const expressions = {
  plain: [],
  calm: ['t > 1000', 'u > 1000'],
  kept: ['t > 50 for 1h clear t < 20', 'u > 50 for 1h clear u < 20'],
  several: ['t > 1000; u > 5'],
} as const;
export type WatchedKind = keyof typeof expressions;

const devices = 50;
const sensorIds = ['t', 'u'];

/** Makes the devices and their rules; answers a token. */
export async function populateWatched(
  url: string,
  login: { readonly username: string; readonly password: string },
  kinds: readonly WatchedKind[],
): Promise<string> {
  const token = await postJson(url, '/auth/token', undefined, login);
  for (const kind of kinds) {
    for (let at = 0; at < devices; at += 1) {
      const id = `${kind}-${at}`;
      await postJson(url, '/devices', token, {
        id,
        sensors: sensorIds.map((one) => ({ id: one })),
      });
      for (const expression of expressions[kind]) {
        const condition = { devices: [id], expression };
        const action = { usernames: ['admin'], channels: ['webhook'], message: 'it is hot' };
        await postJson(url, '/notifications', token, { condition, action });
      }
    }
  }
  return token;
}

/** Pushes in turn to devices of a kind: from `first` on, each `step`th. */
export function createWatchedTraffic(
  token: string,
  kind: WatchedKind,
  { first, step }: { readonly first: number; readonly step: number },
): Traffic {
  let sequences = 0;
  return {
    expectedStatus: 204,
    next() {
      sequences += 1;
      return sequences - 1;
    },
    requestOf(sequence) {
      const id = `${kind}-${(first + sequence * step) % devices}`;
      const sensor = sensorIds[Math.floor(sequence / devices) % sensorIds.length];
      const body = `{"value":${sequence % 100}}`;
      return (
        `POST /api/v2/devices/${id}/sensors/${sensor}/value HTTP/1.1\r\nHost: 127.0.0.1\r\n` +
        `Authorization: Bearer ${token}\r\nContent-Type: application/json\r\n` +
        `Content-Length: ${body.length}\r\n\r\n${body}`
      );
    },
    acknowledge: () => undefined,
  };
}
