import type { Resource } from '../access/policy.ts';
import type { ResourceKind } from '../access/scopes.ts';
import type { VisibleTo } from '../access/viewer.ts';
import type { DeviceStore } from '../devices/device.ts';
import { deviceResource, requireDevice } from '../devices/devices.ts';
import { type GatewayStore, gatewayResource, requireGateway } from '../gateways/gateways.ts';
import { parseDeviceId, parseGatewayId, parseProjectId } from '../ids.ts';
import { type ProjectStore, projectResource, requireProject } from './projects.ts';

/** Everything that can be owned and shared, whatever its kind. */
export interface OwnedResources {
  /** The device, gateway or project with this id. Throws invalid, not_found. */
  find(kind: ResourceKind, id: string): Promise<Resource>;
  /** Name by which people know the thing, or its id. Throws invalid, not_found. */
  nameOf(kind: ResourceKind, id: string): Promise<string>;
  /** In order of creation. */
  list(
    kind: ResourceKind,
    page: { visibleTo: VisibleTo; limit: number; offset: number },
  ): Promise<readonly Resource[]>;
}

/** Looks up what sharing is about; sharing itself knows nothing of the kinds. */
export function createOwnedResources({
  devices,
  gateways,
  projects,
}: {
  readonly devices: DeviceStore;
  readonly gateways: GatewayStore;
  readonly projects: ProjectStore;
}): OwnedResources {
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
    async nameOf(kind, id) {
      switch (kind) {
        case 'device':
          return (await requireDevice(devices, parseDeviceId(id))).name ?? id;
        case 'gateway':
          return (await requireGateway(gateways, parseGatewayId(id))).name ?? id;
        case 'project':
          return (await requireProject(projects, parseProjectId(id))).name ?? id;
      }
    },
    async list(kind, page) {
      switch (kind) {
        case 'device': {
          const listing = await devices.list(page);
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
