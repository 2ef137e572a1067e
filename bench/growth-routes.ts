/** A request whose work is counted; `#` in its path and body is the number of the run. */
export interface GrowthRoute {
  /** Who asks: an account of `askers`, admin, or guest. */
  readonly who: string;
  readonly method: string;
  readonly path: string;
  readonly body?: string;
  /** Why its work must grow with the installation; absent: it may at most double. */
  readonly growsBecause?: string;
}

/** Requests whose work may grow, with the reason. */
const reasons: readonly (readonly [name: RegExp, reason: string])[] = [
  [
    / \/auth\/permissions\/(devices|gateways)|^admin .*\/auth\/permissions\/projects/,
    'the answer has everything that is public or granted, with no page',
  ],
  [/ \/devices\?q=name~=/, 'no index answers a filter of names: each visible device is read'],
];

const listsOfAll = ['devices', 'gateways', 'projects'] as const;

function* reads(): Generator<readonly [who: string, path: string]> {
  for (const who of ['guest', 'ten', 'granted', 'member', 'half', 'admin']) {
    yield [who, '/devices?limit=20'];
    yield [who, '/devices?limit=20&offset=40'];
    yield [who, '/gateways?limit=20'];
    yield [who, '/devices?q=id==t1,t3,d0,d1&limit=20'];
    yield [who, '/devices?q=owner==ten&limit=20'];
    yield [who, '/devices?q=owner==half&limit=20'];
    yield [who, '/devices?q=domain==of-ten-1&limit=20'];
    yield [who, '/devices/d0'];
    yield [who, '/devices/t1/sensors'];
    yield [who, '/devices/t1/sensors/s/values?limit=20'];
    yield [who, '/sensors_data?device_id=t1&sensor_id=s&limit=20'];
    yield [who, '/sensors_data/last?device_id=t1,d0'];
    if (who === 'guest') continue;
    yield [who, '/projects?limit=20'];
    yield [who, '/devices?q=owner==me&limit=20'];
    yield [who, '/devices?q=owner==me;id==t1&limit=20'];
    yield [who, '/notifications?limit=20'];
    yield [who, '/users/me'];
    yield [who, '/users/me/channels'];
    yield [who, '/users?limit=20'];
    yield [who, '/socials?limit=20'];
    yield [who, '/groups'];
    yield [who, '/invitations'];
    yield [who, '/auth/keys'];
    yield [who, '/auth/sessions'];
    yield [who, '/users/me/retention'];
  }
  for (const who of ['ten', 'granted', 'member']) yield [who, '/users/me/grants'];
  for (const who of ['guest', 'ten', 'admin']) {
    for (const kind of listsOfAll) yield [who, `/auth/permissions/${kind}`];
  }
  yield ['guest', '/devices?q=name~=nothing&limit=20'];
  yield ['half', '/devices?limit=20&offset=100'];
  yield ['half', '/projects/p0'];
  yield ['ten', '/projects/own/export'];
  yield ['ten', '/devices/t1/export'];
  for (const path of ['grants', 'refusals', 'retention', 'sensors/s/retention']) {
    yield ['ten', `/devices/t0/${path}`];
  }
  yield ['ten', '/devices/t0/sensors/s/corrections'];
  yield ['admin', '/admin/usage?limit=20'];
  yield ['admin', '/admin/service'];
  yield ['admin', '/admin/settings'];
}

const writes: readonly (readonly [who: string, method: string, path: string, body?: string])[] = [
  ['guest', 'POST', '/devices/d1/sensors/s/value', '{"value":1}'],
  ['ten', 'POST', '/devices/t1/sensors/s/value', '{"value":41}'],
  ['ten', 'POST', '/devices/t1/sensors/s/values', '[{"value":1},{"value":2}]'],
  ['ten', 'POST', '/sensors_data', '[{"device_id":"t1","sensor_id":"s","value":1}]'],
  ['ten', 'POST', '/write?db=t1', 'm,device=t1 s=1.5'],
  ['ten', 'POST', '/devices', '{"id":"new#","sensors":[{"id":"s"}]}'],
  ['guest', 'POST', '/devices', '{"id":"guests#"}'],
  ['ten', 'PUT', '/devices/new#/name', 'a name'],
  ['ten', 'PUT', '/devices/new#/visibility', 'private'],
  ['ten', 'POST', '/devices/new#/sensors', '{"id":"s2"}'],
  ['ten', 'DELETE', '/devices/new#/sensors/s2'],
  ['ten', 'POST', '/devices/new#/actuators', '{"id":"a"}'],
  ['ten', 'PUT', '/devices/new#/actuators/a/value', '1'],
  ['ten', 'PUT', '/devices/new#/grants/member', '["devices:view"]'],
  ['ten', 'DELETE', '/devices/new#/grants/member'],
  ['ten', 'PUT', '/devices/new#/grants/groups/class', '["devices:view"]'],
  ['ten', 'POST', '/gateways', '{"id":"gate#"}'],
  ['ten', 'PUT', '/gateways/gate#/health', '{}'],
  ['ten', 'POST', '/projects', '{"id":"project#","name":"p","device_ids":["t1"]}'],
  ['ten', 'PUT', '/projects/project#/device_ids', '["t1","t3"]'],
  [
    ...(['ten', 'POST', '/notifications'] as const),
    JSON.stringify({
      condition: { devices: ['t1'], sensors: ['s'], expression: 's>99' },
      action: {
        type: 'SocialAction',
        value: { usernames: ['ten'], channels: ['email'], message: 'hot' },
      },
    }),
  ],
  ['ten', 'POST', '/groups', '{"name":"group #"}'],
  ['ten', 'PUT', '/groups/class/usernames/granted', ''],
  ['ten', 'DELETE', '/groups/class/usernames/granted'],
  ['ten', 'POST', '/socials', '{"username":"member","channel":"none","message":"m"}'],
  ['guest', 'POST', '/users', '{"username":"user#","password":"a new password"}'],
  ['admin', 'DELETE', '/projects/project#'],
  ['admin', 'DELETE', '/gateways/gate#'],
  ['admin', 'DELETE', '/devices/new#'],
  ['admin', 'DELETE', '/users/id-u#'],
];

/** Reads first, so that all find what was made at the beginning. */
export function growthRoutes(): readonly GrowthRoute[] {
  const routes = [...reads()].map(([who, path]): GrowthRoute => ({ who, method: 'GET', path }));
  for (const [who, method, path, body] of writes) {
    routes.push({ who, method, path, ...(body !== undefined && { body }) });
  }
  return routes.map((route) => {
    const [, growsBecause] = reasons.find(([name]) => name.test(nameOf(route))) ?? [];
    return growsBecause === undefined ? route : { ...route, growsBecause };
  });
}

export const nameOf = ({ who, method, path }: GrowthRoute): string => `${who} ${method} ${path}`;
