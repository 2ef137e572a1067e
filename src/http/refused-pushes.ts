import type { RefusedPushes } from '../domain/datapoints/refused-pushes.ts';
import { parseDeviceId, parseSensorId } from '../domain/ids.ts';
import { ifDefined } from '../lib/record.ts';
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
    // Ids that can be none are of no device.
    const ids = ifPossible(() => idsOf(meant));
    if (ids === undefined) return;
    // The sender, where the secret was looked up already.
    const peek = () => authenticate.peek?.(request.headers.authorization);
    const actor = code === 'unauthenticated' ? undefined : ifPossible(peek);
    void refusedPushes.note({
      via: 'http',
      code: request.is404 ? 'wrong_path' : code,
      error,
      address: clients.of(request.raw).address,
      path: pathOf(request.url),
      description: body.description,
      sent: request.body instanceof Uint8Array ? request.body : undefined,
      ...(actor !== undefined && { actor }),
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
    return ifDefined(device, (text) => ({ device: ifPossible(() => decodeURIComponent(text)) }));
  }
  if (!valuePath.test(routeOptions.url ?? '')) return undefined;
  const named = params as Readonly<Record<string, string | undefined>>;
  const { device_id, sensor_id, measurement_id } = named;
  if (measurement_id !== undefined) return { device: sensor_id, sensor: measurement_id };
  return sensor_id === undefined ? undefined : { device: device_id, sensor: sensor_id };
}

function idsOf({ device, sensor }: Meant) {
  const deviceId = parseDeviceId(device);
  return sensor === undefined ? { deviceId } : { deviceId, sensorId: parseSensorId(sensor) };
}

/** The value that is read; undefined where reading it throws. */
function ifPossible<Value>(read: () => Value): Value | undefined {
  try {
    return read();
  } catch {
    return undefined;
  }
}
