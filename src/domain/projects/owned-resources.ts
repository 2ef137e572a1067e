import type { Resource, ResourceKind } from '../access/scopes.ts';
import type { VisibleTo } from '../access/viewer.ts';
import type { DeviceStore } from '../devices/device.ts';
import { deviceResource, requireDevice } from '../devices/devices.ts';
import { type GatewayStore, gatewayResource, requireGateway } from '../gateways/gateways.ts';
import { parseDeviceId, parseGatewayId, parseProjectId } from '../ids.ts';
import { limits } from '../limits.ts';
import { type ProjectStore, projectResource, requireProject } from './projects.ts';

/** Looks up what sharing is about; sharing itself knows nothing of the kinds. */
export function createOwnedResources(options: {
  readonly devices: DeviceStore;
  readonly gateways: GatewayStore;
  readonly projects: ProjectStore;
}) {
  const { devices, gateways, projects } = options;
  /** A thing as the policy sees it, with the name by which people know it. */
  const finders = {
    async device(id: string) {
      const device = await requireDevice(devices, parseDeviceId(id));
      return { resource: deviceResource(device), name: device.name };
    },
    async gateway(id: string) {
      const gateway = await requireGateway(gateways, parseGatewayId(id));
      return { resource: gatewayResource(gateway), name: gateway.name };
    },
    async project(id: string) {
      const project = await requireProject(projects, parseProjectId(id));
      return { resource: projectResource(project), name: project.name };
    },
  };
  return {
    /** The device, gateway or project with this id. Throws invalid, not_found. */
    find: async (kind: ResourceKind, id: string): Promise<Resource> =>
      (await finders[kind](id)).resource,
    /** Name by which people know the thing, or its id. Throws invalid, not_found. */
    nameOf: async (kind: ResourceKind, id: string): Promise<string> =>
      (await finders[kind](id)).name ?? id,
    /** Lists all that may be shown, step by step, in order of creation. A step may be empty. */
    async *list(kind: ResourceKind, visibleTo: VisibleTo): AsyncIterable<readonly Resource[]> {
      const limit = limits.resourcesPerStep;
      if (kind === 'device') {
        for (let after: number | undefined; ; ) {
          const search = { visibleTo, equals: new Map(), ...(after !== undefined && { after }) };
          const { devices: found, next } = await devices.candidates(search);
          yield found.map(deviceResource);
          if (next === undefined) return;
          after = next;
        }
      }
      for (let offset = 0; ; offset += limit) {
        const page = { visibleTo, limit, offset };
        const step =
          kind === 'gateway'
            ? (await gateways.list(page)).gateways.map(gatewayResource)
            : (await projects.list(page)).projects.map(projectResource);
        yield step;
        if (step.length < limit) return;
      }
    },
  };
}
