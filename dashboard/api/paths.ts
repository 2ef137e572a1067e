/** The paths of things of a kind by their ids, which are encoded here and nowhere else. */
const each =
  (path: string) =>
  (id: string): string =>
    `${path}/${encodeURIComponent(id)}`;

const device = each('/devices');

/** Paths of the API below /api/v2. */
export const apiPaths = {
  devices: '/devices',
  device,
  sensor: (id: string, sensor: string) => each(`${device(id)}/sensors`)(sensor),
  actuator: (id: string, actuator: string) => each(`${device(id)}/actuators`)(actuator),
  gateways: '/gateways',
  gateway: each('/gateways'),
  projects: '/projects',
  project: each('/projects'),
  groups: '/groups',
  group: each('/groups'),
  alerts: '/notifications',
  alert: each('/notifications'),
  socials: '/socials',
  social: each('/socials'),
  users: '/users',
  user: each('/users'),
} as const;

/** Addresses of screens. */
export const screenPaths = {
  device,
  devicePart: (id: string, part: string) => `${device(id)}/${part}`,
  gateway: apiPaths.gateway,
  project: apiPaths.project,
  group: apiPaths.group,
  alert: each('/alerts'),
  user: apiPaths.user,
} as const;
