import Type from 'typebox';
import { invalid } from '../domain/errors.ts';
import type { Gateway, NewGateway } from '../domain/gateways/gateways.ts';
import { parseGatewayId } from '../domain/ids.ts';
import { limits } from '../domain/limits.ts';
import type { JsonValue } from '../lib/json.ts';
import { defined, ifDefined, isRecord } from '../lib/record.ts';
import { formatTimestamp } from '../lib/timestamp.ts';
import { DeviceMessage, visibilities } from './device.ts';
import {
  Anything,
  DateText,
  Flag,
  Id,
  LocationMessage,
  Message,
  OneOf,
  optional,
  Plain,
  Text,
  type Wire,
} from './fields.ts';
import { createReader } from './validation.ts';

const described = {
  id: Id('Unique among all gateways.', 'MyGateway'),
  name: Type.Optional(Text('Human-readable name.', 'Water tower')),
  visibility: Type.Optional(OneOf(visibilities, 'Who may see it; absent counts as public.')),
};

const NewGatewayMessage = Message('NewGateway', {
  ...described,
  location: Type.Optional(LocationMessage),
});

export const GatewayMessage = Message('Gateway', {
  ...described,
  owner: Plain('Username, or guest.'),
  ...optional({
    pending: Flag('Handed over and not accepted yet; for its owner and the receiver.'),
    location: LocationMessage,
    status: Anything('The JSON object of the last heartbeat that had one.'),
  }),
  date_created: DateText('Set by the service.'),
  date_modified: DateText('Set by the service.'),
  connected: Flag('Whether it is connected by MQTT right now.'),
  last_seen: Type.Optional(DateText('When its last heartbeat came.')),
  devices: Type.Optional(Type.Array(DeviceMessage, { description: 'With full=true.' })),
});

/** The body of a heartbeat; for the reference only, it is read by `readStatus`. */
export const HeartbeatMessage = Type.Unknown({
  description: 'A JSON object is kept as the status of the gateway; all else is ignored.',
});

export const readGateway = createReader(
  NewGatewayMessage,
  'gateway',
  ({ id, name, visibility, location }): NewGateway =>
    defined({ id: parseGatewayId(id), name, visibility, location }),
);

/** The status in the body of a heartbeat; undefined when it is no JSON object. */
export function readStatus(body: JsonValue | undefined): JsonValue | undefined {
  if (!isRecord(body) || JSON.isRawJSON(body)) return undefined;
  const bytes = Buffer.byteLength(JSON.stringify(body));
  if (bytes <= limits.metaBytesMax) return body;
  throw invalid(`the status must have at most ${limits.metaBytesMax} bytes as JSON, got ${bytes}`);
}

/** A gateway with whether it is connected now. */
export interface GatewayView {
  readonly gateway: Gateway;
  readonly isConnected: boolean;
}

export function gatewayToWire(view: GatewayView): Wire<typeof GatewayMessage> {
  const { gateway, isConnected } = view;
  const { id, name, visibility, owner, location, status, lastSeenAt } = gateway;
  return defined({
    id,
    name,
    visibility,
    owner,
    ...(gateway.offeredTo !== undefined && { pending: true }),
    location,
    status,
    date_created: formatTimestamp(gateway.createdAt),
    date_modified: formatTimestamp(gateway.modifiedAt),
    connected: isConnected,
    last_seen: ifDefined(lastSeenAt, formatTimestamp),
  });
}
