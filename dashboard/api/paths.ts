/** Paths of the API below /api/v2; ids are encoded here and nowhere else. */
export const apiPaths = {
  devices: '/devices',
  device: (device: string) => `/devices/${encodeURIComponent(device)}`,
  sensor: (device: string, sensor: string) =>
    `/devices/${encodeURIComponent(device)}/sensors/${encodeURIComponent(sensor)}`,
  actuator: (device: string, actuator: string) =>
    `/devices/${encodeURIComponent(device)}/actuators/${encodeURIComponent(actuator)}`,
  gateways: '/gateways',
  gateway: (gateway: string) => `/gateways/${encodeURIComponent(gateway)}`,
  projects: '/projects',
  project: (project: string) => `/projects/${encodeURIComponent(project)}`,
  groups: '/groups',
  group: (group: string) => `/groups/${encodeURIComponent(group)}`,
  alerts: '/notifications',
  alert: (alert: string) => `/notifications/${encodeURIComponent(alert)}`,
  socials: '/socials',
  social: (social: string) => `/socials/${encodeURIComponent(social)}`,
  users: '/users',
  user: (user: string) => `/users/${encodeURIComponent(user)}`,
} as const;

/** Addresses of screens. */
export const screenPaths = {
  device: (device: string) => `/devices/${encodeURIComponent(device)}`,
  devicePart: (device: string, part: string) => `/devices/${encodeURIComponent(device)}/${part}`,
  gateway: (gateway: string) => `/gateways/${encodeURIComponent(gateway)}`,
  project: (project: string) => `/projects/${encodeURIComponent(project)}`,
  group: (group: string) => `/groups/${encodeURIComponent(group)}`,
  alert: (alert: string) => `/alerts/${encodeURIComponent(alert)}`,
  user: (user: string) => `/users/${encodeURIComponent(user)}`,
} as const;
