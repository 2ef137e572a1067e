import assert from 'node:assert/strict';
import type { Service } from '../service.ts';

/** What a stranger could name things; were it read as HTML, it would set globalThis.isRun. */
export const nastyText =
  '<script>globalThis.isRun=1</script><svg onload="globalThis.isRun=1">' +
  '<img src=x onerror="globalThis.isRun=1">javascript:globalThis.isRun=1';

/** Screens of somebody who is not logged in. */
export const guestScreens = [
  '/',
  '/login',
  '/signup',
  '/forgotten',
  '/first',
  '/first#secret',
  '/devices/public-1',
  '/more',
];

/** What the service named by itself. */
export interface Furniture {
  readonly alert: string;
  readonly project: string;
  readonly group: string;
}

/** Screens of ama, who has a bit of everything. */
export const userScreens = ({ alert, project, group }: Furniture): readonly string[] => [
  '/',
  '/map',
  '/alerts',
  '/messages',
  '/alerts/new?device=field-3&sensor=SM',
  `/alerts/${alert}`,
  '/gateways',
  '/gateways/roof-gw',
  '/gateways/roof-gw/share',
  '/projects',
  `/projects/${project}`,
  `/projects/${project}/share`,
  '/sharing',
  '/groups',
  `/groups/${group}`,
  `/alerts/${alert}/edit`,
  '/profile',
  '/profile/developers',
  '/more',
  '/new-device',
  '/new-device?kit=gateway',
  '/new-device?kit=gateway&gateway=roof-gw',
  '/devices/field-3',
  '/devices/field-3/settings',
  '/devices/field-3/share',
  '/devices/field-3/data',
  '/devices/field-3/send',
  '/devices/field-3/new-sensor',
  '/devices/field-3/new-actuator',
  '/devices/field-3/sensors/SM',
  '/devices/field-3/actuators/pump',
  '/devices/nasty',
  '/devices/missing',
  '/nowhere',
];

/** A house with a bit of everything, so that every screen has something to show. */
export async function furnish(service: Service): Promise<Furniture> {
  const ama = service.as('ama');
  await service.tokenOf('kofi');
  const send = async (method: string, path: string, json: unknown): Promise<string> => {
    const { status, text } = await ama({ method, path, json });
    assert.ok(status < 300, `${method} ${path}: ${status} ${text}`);
    return text;
  };
  await send('POST', '/gateways', { id: 'roof-gw', name: 'Roof', visibility: 'private' });
  await send('POST', '/gateways', { id: 'nasty-gw', name: nastyText, visibility: 'private' });
  await ama({ method: 'PUT', path: '/gateways/roof-gw/location', body: '5.6,-0.2' });
  await ama({ method: 'POST', path: '/gateways/roof-gw/heartbeat' });
  await send('POST', '/devices', {
    ...{ id: 'field-3', name: 'Field 3', visibility: 'private', gateway_id: 'roof-gw' },
    ...{ domain: 'agriculture', location: { latitude: 5.61, longitude: -0.19 } },
    sensors: [
      { id: 'SM', name: 'Soil', quantity_kind: 'SoilHumidity', unit: 'Percent' },
      { id: 'TC', name: 'Air', quantity_kind: 'AirTemperature', unit: 'DegreeCelsius' },
      { id: 'door', name: 'Door' },
    ],
    actuators: [{ id: 'pump', name: 'Pump', value_type: 'bool', value: false }],
  });
  await send('POST', '/devices', {
    ...{ id: 'nasty', name: nastyText, visibility: 'private', domain: nastyText },
    ...{ location: { latitude: 6, longitude: 1 } },
    sensors: [{ id: 'S1', name: nastyText, unit: nastyText }],
  });
  await send('POST', '/devices', {
    ...{ id: 'public-1', name: 'Well', visibility: 'public' },
    sensors: [
      { id: 'L', name: 'Level', unit: 'Metre' },
      { id: 'PA', name: 'Air pressure', unit: 'Millibar' },
      { id: 'TC', name: 'Air', unit: 'DegreeCelsius' },
    ],
  });
  for (const [sensor, value] of [
    ['L', 3.2],
    ['PA', 1_005.3],
    ['TC', 21],
  ] as const) {
    await send('POST', `/devices/public-1/sensors/${sensor}/value`, { value });
  }
  await pushDay(service, 'field-3', 'SM', (hour) => 40 - hour / 2);
  await pushDay(service, 'field-3', 'TC', (hour) => 22 + Math.sin(hour / 4) * 6);
  await pushDay(service, 'field-3', 'door', (hour) => (hour % 6 < 3 ? 'open' : 'closed'));
  await pushDay(service, 'nasty', 'S1', () => nastyText);
  await send('PUT', '/devices/field-3/grants/kofi', ['devices:view', 'devices-data:view']);
  const alert = await send('POST', '/notifications', {
    description: nastyText,
    condition: { devices: ['field-3'], sensors: ['SM'], expression: 'SM < 35' },
    action: { usernames: ['ama'], channels: ['sms'], message: `Water! ${nastyText} {SM}` },
    throttling: 3_600,
  });
  const project = await send('POST', '/projects', {
    ...{ name: 'All fields', device_ids: ['field-3', 'nasty'], gateway_ids: ['roof-gw'] },
  });
  await send('POST', '/devices/field-3/sensors/SM/value', { value: 20 });
  const group = await send('POST', '/groups', { name: nastyText, usernames: ['kofi'] });
  await send('PUT', `/devices/field-3/grants/groups/${group}`, ['devices:view']);
  await send('PUT', `/projects/${project}/grants/groups/${group}`, ['projects:view']);
  return { alert, project, group };
}

async function pushDay(
  service: Service,
  device: string,
  sensor: string,
  valueAt: (hour: number) => unknown,
): Promise<void> {
  const hourMs = 3_600_000;
  const now = Date.now();
  const json = Array.from({ length: 24 }, (_, hour) => ({
    value: valueAt(hour),
    timestamp: new Date(now - (23 - hour) * hourMs).toISOString(),
  }));
  const path = `/devices/${device}/sensors/${sensor}/values`;
  const { status, text } = await service.as('ama')({ method: 'POST', path, json });
  assert.equal(status, 204, text);
}
