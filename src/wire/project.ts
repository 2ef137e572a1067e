import Type from 'typebox';
import { parseDeviceId, parseGatewayId, parseProjectId } from '../domain/ids.ts';
import { limits } from '../domain/limits.ts';
import type { NewProject, Project, UnsharedMembers } from '../domain/projects/projects.ts';
import { defined, ifDefined } from '../lib/record.ts';
import { DeviceMessage } from './device.ts';
import { distinct, Id, Message, optional, Plain, Text, type Wire } from './fields.ts';
import { GatewayMessage, type GatewayView, gatewayToWire } from './gateway.ts';
import { createReader } from './validation.ts';

const Ids = (things: string) =>
  Type.Array(Type.String(), {
    description: `Ids of ${things}; they need not exist.`,
    maxItems: limits.projectMembersMax,
  });

export const DeviceIdsMessage = Ids('devices');
export const GatewayIdsMessage = Ids('gateways');

const described = {
  name: Type.Optional(Text('Human-readable name.', 'Irrigation of the north field')),
};

const NewProjectMessage = Message('NewProject', {
  id: Type.Optional(Id('Unique among all projects; made up when absent.', 'irrigation')),
  ...described,
  device_ids: Type.Optional(DeviceIdsMessage),
  gateway_ids: Type.Optional(GatewayIdsMessage),
});

export const ProjectMessage = Message('Project', {
  id: Id('Unique among all projects.', 'irrigation'),
  ...described,
  owner: Plain('Username, or guest.'),
  device_ids: DeviceIdsMessage,
  gateway_ids: GatewayIdsMessage,
  ...optional({
    unshared: Type.Object(
      { device_ids: DeviceIdsMessage, gateway_ids: GatewayIdsMessage },
      {
        description:
          'For its owner and admins: what somebody else listed, so that grants on the project ' +
          'do not reach it until its owner lists it. Absent when there is nothing of it.',
      },
    ),
    devices: Type.Array(DeviceMessage, { description: 'With full=true: those you may view.' }),
    gateways: Type.Array(GatewayMessage, { description: 'With full=true: those you may view.' }),
  }),
});

/** Each id once, in the order given. Throws invalid for what is no list of device ids. */
export const readDeviceIds = createReader(DeviceIdsMessage, 'device_ids', (ids) =>
  distinct(ids.map(parseDeviceId)),
);

/** Each id once, in the order given. Throws invalid for what is no list of gateway ids. */
export const readGatewayIds = createReader(GatewayIdsMessage, 'gateway_ids', (ids) =>
  distinct(ids.map(parseGatewayId)),
);

export const readProject = createReader(
  NewProjectMessage,
  'project',
  ({ id, name, device_ids = [], gateway_ids = [] }): NewProject =>
    defined({
      id: ifDefined(id, parseProjectId),
      name,
      deviceIds: readDeviceIds(device_ids),
      gatewayIds: readGatewayIds(gateway_ids),
    }),
);

export function projectToWire(options: {
  readonly project: Project;
  readonly unshared?: UnsharedMembers;
  readonly gateways?: readonly GatewayView[];
}): Wire<typeof ProjectMessage> {
  const { project, unshared, gateways } = options;
  const { id, name, owner, deviceIds, gatewayIds } = project;
  return defined({
    id,
    name,
    owner,
    device_ids: deviceIds,
    gateway_ids: gatewayIds,
    ...(unshared !== undefined &&
      unshared.deviceIds.length + unshared.gatewayIds.length > 0 && {
        unshared: { device_ids: unshared.deviceIds, gateway_ids: unshared.gatewayIds },
      }),
    gateways: ifDefined(gateways, (gateways) => gateways.map(gatewayToWire)),
  });
}
