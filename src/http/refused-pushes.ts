import type { Actor } from '../domain/actor.ts';
import type { RefusedPushes } from '../domain/datapoints/refused-pushes.ts';
import { parseDeviceId, parseSensorId } from '../domain/ids.ts';
import type { Authenticate, Clients } from './authentication.ts';
import type { OnRefused, RefusedRequest } from './error-handler.ts';

/** Reports pushes that were refused, whatever part of the server refused them. */
export function createNoteRefusal(
  refusedPushes: Pick<RefusedPushes, 'note'>,
  authenticate: Authenticate,
  clients: Pick<Clients, 'of'>,
): OnRefused {
  return (request, { code, body }, error) => {
    const meant = pushOf(request);
    if (meant === undefined) return;
    const actor = code === 'unauthenticated' ? undefined : senderOf(request, authenticate);
    const problem = request.is404 ? 'wrong_path' : code;
    const ids = idsOf(meant);
    if (ids === undefined) return;
    const sender = actor === undefined ? {} : { actor };
    const { address } = clients.of(request.raw);
    const path = pathOf(request.url);
    void refusedPushes.note({
      via: 'http',
      code: problem,
      error,
      address,
      path,
      description: body.description,
      sent: request.body instanceof Uint8Array ? request.body : undefined,
      ...sender,
      ...ids,
    });
  };
}

/** The address of a request without its query, which may hold a key. */
export const pathOf = (url: string): string => url.slice(0, url.search(/\?|$/));

interface Meant {
  readonly device: string | undefined;
  readonly sensor?: string | undefined;
}

const valuePath = /\/values?$/;
const devicePath = /^\/api\/v\d\/(?:devices|sensors)\/([^/?]{1,768})\//;

/** Finds the target of a push; version 1 has other words for it. Undefined: it is no push. */
function pushOf({ method, is404, routeOptions, params, url }: RefusedRequest): Meant | undefined {
  if (method === 'GET' || method === 'HEAD' || method === 'OPTIONS') return undefined;
  if (is404) {
    const [, device] = devicePath.exec(url) ?? [];
    return device === undefined ? undefined : { device: decoded(device) };
  }
  if (!valuePath.test(routeOptions.url ?? '')) return undefined;
  const named = params as Readonly<Record<string, string | undefined>>;
  const { device_id, sensor_id, measurement_id } = named;
  if (measurement_id !== undefined) return { device: sensor_id, sensor: measurement_id };
  return sensor_id === undefined ? undefined : { device: device_id, sensor: sensor_id };
}

function decoded(text: string): string | undefined {
  try {
    return decodeURIComponent(text);
  } catch {
    return undefined;
  }
}

/** Ids as ids; undefined where they can be none: no device has them. */
function idsOf({ device, sensor }: Meant) {
  try {
    const deviceId = parseDeviceId(device);
    return sensor === undefined ? { deviceId } : { deviceId, sensorId: parseSensorId(sensor) };
  } catch {
    return undefined;
  }
}

/** Finds the sender of a push, where the secret was looked up already. */
function senderOf(request: RefusedRequest, authenticate: Authenticate): Actor | undefined {
  try {
    return authenticate.peek?.(request.headers.authorization);
  } catch {
    return undefined;
  }
}
