import { type Call, passwordOf } from '../service.ts';
import {
  type Asker,
  type DeviceScope,
  isInCharge,
  isPerson,
  lookingAtActuators,
  type PublicPush,
  rightsOn,
  type Subject,
} from './rights-oracle.ts';

/** The user who owns what the matrix is about; a name that no refusal would hold by chance. */
export const owner = 'landlady';

/** What is sent besides the path and the token. */
export type Sent = Pick<Call, 'json' | 'body' | 'headers'>;

/** A route about one device, and what it takes to use it. */
export interface DeviceRoute {
  /**
   * share: who is in charge, once there is an owner. hand over: who is in charge, or anybody.
   * give: the same but for guests.
   * set: who may push, were the device not public.
   */
  readonly needs: DeviceScope | 'share' | 'hand over' | 'give' | 'set';
  readonly send?: (device: DeviceSubject) => Sent;
  /** The device is not the same after it, so the next asker gets a new one. */
  readonly isDestructive?: boolean;
  /** What it answers to those who may; absent: 200 to a read, else 204. */
  readonly success?: number;
  /** The answer holds values of sensors or actuators, for those who may view the data. */
  readonly showsValues?: boolean;
  /** It reads actuators. */
  readonly ofActuators?: boolean;
}

/** A device of the matrix, with the visibility it was created with. */
export interface DeviceSubject extends Subject {
  readonly visibility: 'public' | 'private' | undefined;
}

/** A route that is not about one device: the status it answers, by who asks. */
export interface AccountRoute {
  readonly status: (asker: Asker) => number;
  readonly send?: Sent;
  /** Ends the token it is sent with, so it gets one of its own. */
  readonly spendsToken?: boolean;
}

const update = (body: string): DeviceRoute => ({
  needs: 'devices:update',
  send: () => ({ body }),
});

/** The value of every sensor and actuator, told by its digits wherever it shows up. */
export const knownValue = 4711.25;

const push: DeviceRoute = {
  needs: 'devices-data:create',
  send: () => ({ json: { value: knownValue } }),
};

const keptForEver = { json: { raw_days: null, hourly_days: null } };

const retention: DeviceRoute = { needs: 'devices:update', send: () => keptForEver };

const actuatorsRead = { needs: 'devices:view', showsValues: true, ofActuators: true } as const;

/** Every route about one device, with the query it takes to name it. */
export const deviceRoutes: Readonly<Record<string, DeviceRoute>> = {
  'GET /devices/{device_id}': { needs: 'devices:view', showsValues: true },
  'DELETE /devices/{device_id}': { needs: 'devices:delete', isDestructive: true },
  'PUT /devices/{device_id}/name': update('Secret garden'),
  'PUT /devices/{device_id}/domain': update('farm'),
  'PUT /devices/{device_id}/gateway_id': update('gateway-1'),
  'PUT /devices/{device_id}/visibility': {
    needs: 'devices:update',
    send: ({ isPrivate }) => ({ body: isPrivate ? 'private' : 'public' }),
    isDestructive: true,
  },
  'PUT /devices/{device_id}/location': update('5.6,-0.2'),
  'PUT /devices/{device_id}/meta': update('{"crop":"maize"}'),
  'PUT /devices/{device_id}/deployed': update('true'),
  'PUT /devices/{device_id}/timezone': update('Africa/Dakar'),
  'PATCH /devices/{device_id}': {
    needs: 'devices:update',
    send: () => ({ json: { domain: 'farm' } }),
  },
  'PUT /devices/{device_id}/accept': { needs: 'hand over' },
  'PUT /devices/{device_id}/owner': {
    needs: 'give',
    send: () => ({ body: owner }),
    isDestructive: true,
  },
  'POST /devices/{device_id}/sensors': {
    needs: 'devices:update',
    send: () => ({ json: { id: 'extra' } }),
  },
  'GET /devices/{device_id}/sensors': { needs: 'devices:view', showsValues: true },
  'GET /devices/{device_id}/sensors/{sensor_id}': { needs: 'devices:view', showsValues: true },
  'DELETE /devices/{device_id}/sensors/{sensor_id}': {
    needs: 'devices:update',
    isDestructive: true,
  },
  'PUT /devices/{device_id}/sensors/{sensor_id}/name': update('Well'),
  'PUT /devices/{device_id}/sensors/{sensor_id}/sensing_device': update('Thermometer'),
  'PUT /devices/{device_id}/sensors/{sensor_id}/sensor_kind': update('Thermometer'),
  'PUT /devices/{device_id}/sensors/{sensor_id}/quantity_kind': update('Temperature'),
  'PUT /devices/{device_id}/sensors/{sensor_id}/measures': update('counter'),
  'PUT /devices/{device_id}/sensors/{sensor_id}/unit': update('DegreeCelsius'),
  'PUT /devices/{device_id}/sensors/{sensor_id}/calib': update('null'),
  'PUT /devices/{device_id}/sensors/{sensor_id}/meta': update('{"depth":3}'),
  'POST /devices/{device_id}/sensors/{sensor_id}/value': push,
  'GET /devices/{device_id}/sensors/{sensor_id}/value': { needs: 'devices-data:view' },
  'POST /devices/{device_id}/sensors/{sensor_id}/values': push,
  'GET /devices/{device_id}/sensors/{sensor_id}/values': { needs: 'devices-data:view' },
  'DELETE /devices/{device_id}/sensors/{sensor_id}/values?all=true&value=none': {
    needs: 'devices:update',
    success: 200,
  },
  'PATCH /devices/{device_id}/sensors/{sensor_id}/values': {
    needs: 'devices:update',
    send: () => ({ json: [{ timestamp: '2016-06-08T00:00:00Z', value: 1 }] }),
    success: 200,
  },
  'GET /devices/{device_id}/sensors/{sensor_id}/corrections': { needs: 'devices:update' },
  'DELETE /devices/{device_id}/sensors/{sensor_id}/corrections/{correction_id}': {
    needs: 'devices:update',
    success: 404,
  },
  'GET /devices/{device_id}/sensors/{sensor_id}/retention': { needs: 'devices:update' },
  'PUT /devices/{device_id}/sensors/{sensor_id}/retention': retention,
  'DELETE /devices/{device_id}/sensors/{sensor_id}/retention': { needs: 'devices:update' },
  'GET /devices/{device_id}/retention': { needs: 'devices:update' },
  'PUT /devices/{device_id}/retention': retention,
  'DELETE /devices/{device_id}/retention': { needs: 'devices:update' },
  'GET /devices/{device_id}/sensors/{sensor_id}/values?aggregate=first,count': {
    needs: 'devices-data:view',
  },
  'GET /devices/{device_id}/sensors/{sensor_id}/values?points=10': { needs: 'devices-data:view' },
  'GET /sensors_data?device_id={device_id}': { needs: 'devices-data:view' },
  'GET /sensors_data/last?device_id={device_id}': { needs: 'devices-data:view' },
  'GET /sensors_data?device_id={device_id}&aggregate=first,count': { needs: 'devices-data:view' },
  'GET /sensors_data?device_id={device_id}&points=10': { needs: 'devices-data:view' },
  'GET /devices/{device_id}/export': { needs: 'devices-data:view' },
  'POST /devices/{device_id}/actuators': {
    needs: 'devices:update',
    send: () => ({ json: { id: 'extra' } }),
  },
  'GET /devices/{device_id}/actuators': actuatorsRead,
  'GET /devices/{device_id}/actuators/{actuator_id}': actuatorsRead,
  'DELETE /devices/{device_id}/actuators/{actuator_id}': {
    needs: 'devices:update',
    isDestructive: true,
  },
  'GET /devices/{device_id}/actuators/{actuator_id}/value': {
    needs: 'devices-data:view',
    ofActuators: true,
  },
  'PUT /devices/{device_id}/actuators/{actuator_id}/value': {
    needs: 'set',
    send: () => ({ json: knownValue }),
  },
  'PUT /devices/{device_id}/actuators/{actuator_id}/name': update('Well pump'),
  'PUT /devices/{device_id}/actuators/{actuator_id}/actuator_kind': update('Pump'),
  'PUT /devices/{device_id}/actuators/{actuator_id}/value_type': update('number'),
  'PUT /devices/{device_id}/actuators/{actuator_id}/actuator_value_type': update('number'),
  'PUT /devices/{device_id}/actuators/{actuator_id}/meta': update('{"watts":40}'),
  'GET /devices/{device_id}/refusals': { needs: 'hand over' },
  'GET /devices/{device_id}/grants': { needs: 'share' },
  'PUT /devices/{device_id}/grants/{username}': {
    needs: 'share',
    send: () => ({ json: ['devices:view'] }),
  },
  'DELETE /devices/{device_id}/grants/{username}': { needs: 'share' },
  'PUT /devices/{device_id}/grants/groups/{group_id}': {
    needs: 'share',
    send: () => ({ json: [] }),
    isDestructive: true,
  },
  'DELETE /devices/{device_id}/grants/groups/{group_id}': { needs: 'share', isDestructive: true },
};

/** The status that a device route answers to the asker [contract 2, 4]. */
export function statusOnDevice(options: {
  readonly name: string;
  readonly route: DeviceRoute;
  readonly asker: Asker;
  readonly device: Subject;
  readonly publicPush: PublicPush;
}): number {
  const usual = options.name.startsWith('GET ') ? 200 : 204;
  return isAllowed(options) ? (options.route.success ?? usual) : 403;
}

function isAllowed(cell: {
  readonly route: DeviceRoute;
  readonly asker: Asker;
  readonly device: Subject;
  readonly publicPush: PublicPush;
}): boolean {
  const { asker, device } = cell;
  const isEverybodys = device.owner === 'guest';
  switch (cell.route.needs) {
    case 'share':
      return isInCharge(asker, device) && !isEverybodys;
    case 'hand over':
      return isInCharge(asker, device) || (isEverybodys && asker.key === undefined);
    case 'give':
      return isPerson(asker) && (isEverybodys || isInCharge(asker, device));
    case 'set':
      return rightsOn(asker, device, 'granted').includes('devices-data:create');
    default:
      return rightsOn(seerFor(cell), device, cell.publicPush).includes(cell.route.needs);
  }
}

/** The asker, with what a key that may push sees of actuators. */
export const seerFor = ({
  route,
  asker,
}: {
  readonly route: DeviceRoute;
  readonly asker: Asker;
}): Asker => (route.ofActuators === true ? lookingAtActuators(asker) : asker);

const anybody = (status: number) => () => status;
const person = (success: number) => (asker: Asker) => (isPerson(asker) ? success : 403);
const admin = (success: number) => (asker: Asker) =>
  isPerson(asker) && asker.isAdmin === true ? success : 403;
const ownerOrAdmin = (success: number) => (asker: Asker) =>
  isPerson(asker) && (asker.isAdmin === true || asker.username === owner) ? success : 403;
const groupOf = (success: number) => (asker: Asker) =>
  isPerson(asker) ? (ownerOrAdmin(success)(asker) === success ? success : 404) : 403;
/** Without a token there is nothing to end or to renew. */
const token = (success: number) => (asker: Asker) =>
  asker.username === undefined ? 401 : person(success)(asker);

/** The name of a device that a key may or may not be for. */
export const takenDeviceId = `${owner}-public`;

function mayCreate({ key }: Asker): boolean {
  if (key?.scopes !== undefined && !key.scopes.includes('devices:update')) return false;
  return key?.devices === undefined || key.devices.includes(takenDeviceId);
}

const credentials = { username: owner, password: passwordOf(owner) };
const basic = Buffer.from(`${credentials.username}:${credentials.password}`).toString('base64');
const social = { message: 'Good morning' };
const notification = {
  condition: { sensors: ['matrix'] },
  action: { usernames: [owner], channels: ['webhook'], message: 'hot' },
};
const address = { channel: 'email', address: 'nobody@example.org' };
const profile: Sent = { json: { firstName: 'Ama' } };

/** Every other route. {user_id} is the owner's, or that of an account to end for DELETE. */
export const accountRoutes: Readonly<Record<string, AccountRoute>> = {
  'POST /auth/token': { status: anybody(200), send: { json: credentials } },
  'GET /auth/token': {
    status: anybody(200),
    send: { headers: { authorization: `Basic ${basic}` } },
  },
  'DELETE /auth/token': { status: token(204), spendsToken: true },
  'POST /auth/renew': { status: token(200) },
  'GET /auth/sessions': { status: person(200) },
  // Nobody's login: who may end logins at all is told that there is none.
  'DELETE /auth/sessions/{session_id}': { status: person(404) },
  'POST /auth/first': { status: anybody(401), send: { json: { secret: 'no such secret' } } },
  'POST /auth/reset': { status: anybody(503), send: { json: { username: 'owner' } } },
  'POST /auth/reset/confirm': {
    status: anybody(401),
    send: { json: { username: 'owner', code: 'AAAA-AAAA', password: 'another password' } },
  },
  'GET /auth/permissions/devices': { status: anybody(200) },
  'POST /auth/keys': { status: person(200), send: { json: { name: 'another' } } },
  'GET /auth/keys': { status: person(200) },
  // Nobody's key: who may delete keys at all is told that there is none.
  'DELETE /auth/keys/{key_id}': { status: person(404) },
  // A taken id: who may create devices at all is told so.
  'POST /devices': {
    status: (asker) => (mayCreate(asker) ? 422 : 403),
    send: { json: { id: takenDeviceId } },
  },
  'GET /devices': { status: anybody(200) },
  'POST /users': {
    status: (asker) => (asker.key === undefined ? 422 : 403),
    send: { json: credentials },
  },
  'GET /users': { status: anybody(200) },
  // Without usernames: administrators are told so.
  'POST /users/import': {
    status: admin(400),
    send: { body: 'name\nFatou\n', headers: { 'content-type': 'text/csv' } },
  },
  'GET /users/me': { status: person(200) },
  'GET /users/me/webhook_secret': { status: person(200) },
  'PUT /users/me': { status: person(204), send: profile },
  // Nobody's address: who may prove addresses at all is told that the profile has none.
  'POST /users/me/addresses/prove': { status: person(400), send: { json: address } },
  'POST /users/me/addresses/confirm': {
    status: person(400),
    send: { json: { ...address, code: 'AAAA-AAAA' } },
  },
  'GET /users/me/grants': { status: person(200) },
  'GET /users/me/retention': { status: person(200) },
  'PUT /users/me/retention': { status: person(204), send: keptForEver },
  'DELETE /users/me/retention': { status: person(204) },
  'POST /groups': { status: person(200), send: { json: { name: 'Class', usernames: [] } } },
  'GET /groups': { status: person(200) },
  // The owner's; to others it does not exist.
  'GET /groups/{group_id}': { status: groupOf(200) },
  'PUT /groups/{group_id}/name': { status: groupOf(204), send: { body: 'Tenants' } },
  'PUT /groups/{group_id}/usernames/{username}': { status: groupOf(204) },
  'DELETE /groups/{group_id}/usernames/{username}': { status: groupOf(204) },
  'PUT /groups/{group_id}/usernames': {
    status: groupOf(204),
    send: { json: ['grantee-group'] },
  },
  'POST /invitations': { status: ownerOrAdmin(200), send: { json: { devices: [takenDeviceId] } } },
  'GET /invitations': { status: person(200) },
  // Nobody's: whoever may invite at all is told that there is none.
  'DELETE /invitations/{invitation_id}': { status: person(404) },
  'GET /invitations/at/{token}': { status: anybody(404) },
  'POST /invitations/at/{token}/accept': { status: person(404) },
  // Nobody's: whoever may have groups at all is told that there is none.
  'DELETE /groups/{no_group_id}': { status: person(404) },
  'GET /users/{user_id}': { status: anybody(200) },
  'PUT /users/{user_id}': { status: ownerOrAdmin(204), send: profile },
  'PUT /users/{user_id}/sms_credit': { status: admin(204), send: { body: '5' } },
  'PUT /users/{leaver_id}/password': { status: admin(204), send: { body: 'a new password' } },
  'POST /users/{leaver_id}/initial_password': { status: admin(200) },
  'DELETE /users/{leaver_id}': { status: admin(204) },
  // Rights are asked for line by line.
  'POST /sensors_data': { status: anybody(200), send: { json: [] } },
  ...(process.env['TEST_API'] === 'v1' ? {} : ofVersion2Alone()),
  'POST /socials': {
    status: person(200),
    send: { json: { username: owner, channel: 'none', ...social } },
  },
  'POST /socials/batch': {
    status: person(204),
    send: { json: { usernames: [owner], channels: ['none'], ...social } },
  },
  'GET /socials': { status: person(200) },
  // Nobody's message: who may see and delete messages at all is told that there is none.
  'GET /socials/{social_id}': { status: person(404) },
  'DELETE /socials/{social_id}': { status: person(404) },
  'POST /notifications': { status: person(200), send: { json: notification } },
  'GET /notifications': { status: anybody(200) },
  'POST /notifications/preview': {
    status: person(200),
    send: { json: { notification, from: '2026-01-01T00:00:00Z' } },
  },
  // Nobody's: whoever may do it at all is told that there is none.
  'GET /notifications/{notification_id}': { status: anybody(404) },
  'PATCH /notifications/{notification_id}': { status: person(404), send: { json: {} } },
  'PUT /notifications/{notification_id}/status': {
    status: person(404),
    send: { body: 'inactive' },
  },
  'DELETE /notifications/{notification_id}': { status: person(404) },
  'GET /notifications/{notification_id}/deliveries': { status: person(404) },
  'GET /notifications/{notification_id}/why': { status: person(404) },
  'GET /users/me/channels': { status: person(200) },
  'POST /users/me/channels/{channel}/test': { status: person(200) },
  'GET /ontologies/sensor_kinds': { status: anybody(200) },
  'GET /ontologies/quantity_kinds': { status: anybody(200) },
  'GET /ontologies/units': { status: anybody(200) },
  'GET /ontologies/actuator_kinds': { status: anybody(200) },
  'GET /admin/usage': { status: admin(200) },
  'GET /admin/service': { status: admin(200) },
  'GET /admin/settings': { status: admin(200) },
  'PUT /admin/settings': { status: admin(204), send: { json: {} } },
};

/** Line protocol has its place in version 2 only. */
function ofVersion2Alone(): Readonly<Record<string, AccountRoute>> {
  return { 'POST /write': { status: anybody(204), send: { body: '' } } };
}
