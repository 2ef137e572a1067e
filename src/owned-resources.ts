import type { Resource } from './domain/access/policy.ts';
import type { ResourceKind } from './domain/access/scopes.ts';
import type { VisibleTo } from './domain/access/viewer.ts';
import { deviceResource, requireDevice } from './domain/devices/devices.ts';
import { gatewayResource, requireGateway } from './domain/gateways/gateways.ts';
import { parseDeviceId, parseGatewayId, parseProjectId } from './domain/ids.ts';
import { projectResource, requireProject } from './domain/projects/projects.ts';
import type { Storage } from './storage/storage.ts';

/** Everything that can be owned and shared, whatever its kind. */
export interface OwnedResources {
  /** The device, gateway or project with this id. Throws invalid, not_found. */
  find(kind: ResourceKind, id: string): Promise<Resource>;
  /** In order of creation. */
  list(
    kind: ResourceKind,
    page: { visibleTo: VisibleTo; limit: number; offset: number },
  ): Promise<readonly Resource[]>;
}

/** Looks up what sharing is about; sharing itself knows nothing of the kinds. */
export function createOwnedResources({ devices, gateways, projects }: Storage): OwnedResources {
  return {
    async find(kind, id) {
      switch (kind) {
        case 'device':
          return deviceResource(await requireDevice(devices, parseDeviceId(id)));
        case 'gateway':
          return gatewayResource(await requireGateway(gateways, parseGatewayId(id)));
        case 'project':
          return projectResource(await requireProject(projects, parseProjectId(id)));
      }
    },
    async list(kind, page) {
      switch (kind) {
        case 'device': {
          const listing = await devices.list({ ...page, maySeeValues: () => false });
          return listing.devices.map(deviceResource);
        }
        case 'gateway':
          return (await gateways.list(page)).gateways.map(gatewayResource);
        case 'project':
          return (await projects.list(page)).projects.map(projectResource);
      }
    },
  };
}
