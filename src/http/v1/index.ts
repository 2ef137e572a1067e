import { DeviceMessage } from '../../wire/device.ts';
import type { Spelling } from '../../wire/spelling.ts';
import type { Route } from '../route.ts';
import { noSite, type Site } from '../site.ts';
import { v2Routes } from '../v2/index.ts';
import type { Services } from '../v2/services.ts';
import { withDifferences } from './differences.ts';
import { renamingOf } from './renaming.ts';
import { translateRoute } from './translate.ts';

const deviceInV1 = renamingOf(DeviceMessage);

// A name that is a field in one version alone is never a field by chance in the other.
const queryFields: Readonly<Record<string, string>> = {
  measurements: 'sensors',
  sensors: 'measurements',
};

/** The words of version 1. */
export const v1Spelling: Spelling = {
  deviceId: 'sensor_id',
  sensorId: 'measurement_id',
  sensors: 'measurements',
  device: (message) => deviceInV1.toV1(message) as object,
  hasIdsInCsv: false,
  queryField: (name) => (Object.hasOwn(queryFields, name) ? (queryFields[name] ?? name) : name),
};

/** All routes of version 1: those of version 2 in other words; tokens live `tokenLifeSeconds`. */
export function v1Routes(
  services: Services,
  tokenLifeSeconds: number,
  site: Site = noSite,
): readonly Route[] {
  const routes = withDifferences(v2Routes(services, tokenLifeSeconds, site), services);
  return routes.map((route) => translateRoute(route, v1Spelling));
}
