import type { ApiClient } from '../../api/client.ts';
import { apiPaths } from '../../api/paths.ts';
import type { Device, Gateway } from '../../api/types.ts';
import { withoutPhotos } from '../../state/list-pages.ts';

/** The most that one page of the API answers. */
const pageItems = 1_000;
/** Pages of devices that are read; beyond, devices of a gateway show on its own screen only. */
const pagesMax = 5;

/** The gateways one may see, each with the devices that name it. */
export async function loadGateways(
  api: Pick<ApiClient, 'getJson' | 'getPage'>,
  signal: AbortSignal,
): Promise<readonly Gateway[]> {
  const query = { limit: pageItems };
  const [gateways, devices] = await Promise.all([
    api.getJson<readonly Gateway[]>({ path: apiPaths.gateways, query, signal }),
    loadDevices(api, signal),
  ]);
  const byGateway = new Map<string, Device[]>();
  for (const device of devices) {
    const key = device.gateway_id ?? '';
    const group = byGateway.get(key);
    if (group === undefined) byGateway.set(key, [device]);
    else group.push(device);
  }
  return gateways.map((gateway) => ({ ...gateway, devices: byGateway.get(gateway.id) ?? [] }));
}

async function loadDevices(
  api: Pick<ApiClient, 'getPage'>,
  signal: AbortSignal,
): Promise<readonly Device[]> {
  const load = (page: number) =>
    api.getPage<Device>({
      path: apiPaths.devices,
      query: { q: 'gateway_id', limit: pageItems, offset: page * pageItems, ...withoutPhotos },
      signal,
    });
  const first = await load(0);
  const pages = Math.min(pagesMax, Math.ceil(first.total / pageItems));
  const rest = await Promise.all(
    Array.from({ length: Math.max(0, pages - 1) }, (_, index) => load(index + 1)),
  );
  return [first, ...rest].flatMap(({ items }) => items);
}
