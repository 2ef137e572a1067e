import type { ApiClient } from '../client/api-client.ts';
import { textField } from '../client/api-client.ts';
import { inParallel } from '../parallel.ts';
import { demoLimits } from './demo-limits.ts';
import type { DemoDevice } from './fleet.ts';

/** What devices of the demo are found with: gateways, a project, an alert. */
export interface Company {
  /** Gateways that the demo speaks for. */
  readonly gatewayIds: readonly string[];
}

const projectName = 'Water points';
const alertDescription = 'A tank of the demo runs low';

/**
 * Declares the gateways that the devices name, and makes a project and an alert, unless they are
 * there. An access key may lack the rights for some of it: then the demo goes on without.
 */
export async function registerCompany(
  client: ApiClient,
  options: { readonly fleet: readonly DemoDevice[]; readonly owner: string },
): Promise<Company> {
  const gatewayIds = await registerGateways(client, options.fleet);
  if (options.owner !== 'guest') {
    await registerProject(client, options.fleet, gatewayIds);
    await registerAlert(client, options.fleet, options.owner);
  }
  return { gatewayIds };
}

/** Sends a heartbeat of each gateway. */
export async function sendHeartbeats(client: ApiClient, { gatewayIds }: Company): Promise<void> {
  await inParallel(gatewayIds, demoLimits.requestsInParallel, async (id) => {
    const path = `/gateways/${encodeURIComponent(id)}/heartbeat`;
    await client.need({ method: 'POST', path, json: { simulated: true } }, 204, 403);
  });
}

async function registerGateways(
  client: ApiClient,
  fleet: readonly DemoDevice[],
): Promise<readonly string[]> {
  const firstOf = new Map<string, DemoDevice>();
  for (const device of fleet) {
    if (!firstOf.has(device.gatewayId)) firstOf.set(device.gatewayId, device);
  }
  const ours: string[] = [];
  const work = async ([id, { town, latitude, longitude }]: [string, DemoDevice]) => {
    const json = {
      id,
      name: `Gateway, ${town}`,
      visibility: 'public',
      location: { latitude, longitude },
    };
    // 422: of an earlier run; whose it is shows at the first heartbeat.
    const { status } = await client.need(
      { method: 'POST', path: '/gateways', json },
      200,
      403,
      422,
    );
    if (status !== 403) ours.push(id);
  };
  await inParallel([...firstOf], demoLimits.requestsInParallel, work);
  return ours;
}

async function registerProject(
  client: ApiClient,
  fleet: readonly DemoDevice[],
  gatewayIds: readonly string[],
): Promise<void> {
  const members = fleet.filter(({ domain }) => domain === 'water');
  if (members.length === 0) return;
  if (await isThere(client, '/projects?limit=1000', 'name', projectName)) return;
  const json = {
    name: projectName,
    device_ids: members.map(({ id }) => id),
    gateway_ids: gatewayIds.filter((id) => members.some(({ gatewayId }) => gatewayId === id)),
  };
  await client.need({ method: 'POST', path: '/projects', json }, 200, 403);
}

async function registerAlert(
  client: ApiClient,
  fleet: readonly DemoDevice[],
  owner: string,
): Promise<void> {
  const tank = fleet.find(({ sensors }) => sensors.some(({ id }) => id === 'FILL'));
  if (tank === undefined) return;
  if (await isThere(client, '/notifications?limit=1000', 'description', alertDescription)) return;
  const json = {
    description: alertDescription,
    condition: {
      devices: [tank.id],
      sensors: ['FILL'],
      expression: 'FILL < 20 clear FILL > 40',
    },
    action: { usernames: [owner], channels: ['sms'], message: `${tank.name}: {FILL} % left` },
    throttling: 6 * 3_600,
  };
  await client.need({ method: 'POST', path: '/notifications', json }, 200, 403);
}

async function isThere(
  client: ApiClient,
  path: string,
  field: string,
  text: string,
): Promise<boolean> {
  const { json } = await client.need({ method: 'GET', path }, 200, 403);
  return Array.isArray(json) && json.some((found: unknown) => textField(found, field) === text);
}
