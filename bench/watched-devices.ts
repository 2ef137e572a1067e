import type { Traffic } from '../tools/bench/load-slice.ts';
import { postJson } from './post-json.ts';

/**
 * Devices of each kind, with two sensors and these rules on them; plain: nothing looks at them;
 * corrected: what was pushed is put right again and again.
 */
const expressions = {
  plain: [],
  corrected: [],
  calm: ['t > 1000', 'u > 1000'],
  kept: ['t > 50 for 1h clear t < 20', 'u > 50 for 1h clear u < 20'],
  several: ['t > 1000; u > 5'],
} as const;
export type WatchedKind = keyof typeof expressions;

const devices = 50;
const sensorIds = ['t', 'u'];
const timestamp = '2026-01-01T00:00:00Z';

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
      if (kind === 'corrected') {
        for (const one of sensorIds) {
          await postJson(url, `/devices/${id}/sensors/${one}/value`, token, {
            value: 1,
            timestamp,
          });
        }
      }
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
  const isCorrected = kind === 'corrected';
  const [method, path] = isCorrected ? ['PATCH', 'values'] : ['POST', 'value'];
  return {
    expectedStatus: isCorrected ? 200 : 204,
    next() {
      sequences += 1;
      return sequences - 1;
    },
    requestOf(sequence) {
      const id = `${kind}-${(first + sequence * step) % devices}`;
      const sensor = sensorIds[Math.floor(sequence / devices) % sensorIds.length];
      const value = sequence % 100;
      const body = JSON.stringify(isCorrected ? [{ value, timestamp }] : { value });
      return (
        `${method} /api/v2/devices/${id}/sensors/${sensor}/${path} HTTP/1.1\r\n` +
        `Host: 127.0.0.1\r\n` +
        `Authorization: Bearer ${token}\r\nContent-Type: application/json\r\n` +
        `Content-Length: ${body.length}\r\n\r\n${body}`
      );
    },
    acknowledge: () => undefined,
  };
}
