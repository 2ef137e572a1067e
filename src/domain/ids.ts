import { invalid } from './errors.ts';
import { dotPath, idCharacters } from './id-text.ts';
import { limits } from './limits.ts';

declare const brand: unique symbol;
type Branded<Name extends string> = string & { readonly [brand]: Name };
export type DeviceId = Branded<'DeviceId'>;
export type SensorId = Branded<'SensorId'>;
export type ActuatorId = Branded<'ActuatorId'>;
export type GatewayId = Branded<'GatewayId'>;
export type ProjectId = Branded<'ProjectId'>;
export type GroupId = Branded<'GroupId'>;
export type InvitationId = Branded<'InvitationId'>;
export type SocialId = Branded<'SocialId'>;
export type NotificationId = Branded<'NotificationId'>;
export type CorrectionId = Branded<'CorrectionId'>;
export type UserId = Branded<'UserId'>;
export type Username = Branded<'Username'>;
export type AccessKeyId = Branded<'AccessKeyId'>;
/** The owner of everything that is created without a token [spec 5.5]. No account may bear it. */
export const guestUsername = 'guest' as Username;

function parseId(kind: string, text: unknown): string {
  if (typeof text !== 'string') throw invalid(`${kind} must be a string`);
  if (text.length === 0) throw invalid(`${kind} must not be empty`);
  if (text.length > limits.idCharactersMax) {
    throw invalid(
      `${kind} must have at most ${limits.idCharactersMax} characters, got ${text.length}`,
    );
  }
  if (!idCharacters.test(text)) {
    throw invalid(
      `${kind} must be printable ASCII without spaces and without & ? / # + < > " ' = ; ( ) % \\`,
    );
  }
  if (dotPath.test(text)) throw invalid(`${kind} must not be "." or ".."`);
  return text;
}

function parseHexId(kind: string, text: unknown): string {
  if (typeof text === 'string' && /^[0-9a-f]{24}$/i.test(text)) return text.toLowerCase();
  throw invalid(`a ${kind} must have 24 hexadecimal digits`);
}

/** A parser of ids of one kind, the only way to get one. */
const idsOf =
  <Id extends string>(kind: string, parse = parseId) =>
  (text: unknown): Id =>
    parse(kind, text) as Id;

export const parseDeviceId = idsOf<DeviceId>('device id');
export const parseSensorId = idsOf<SensorId>('sensor id');
export const parseActuatorId = idsOf<ActuatorId>('actuator id');
export const parseGatewayId = idsOf<GatewayId>('gateway id');
export const parseProjectId = idsOf<ProjectId>('project id');
export const parseGroupId = idsOf<GroupId>('group id');
export const parseInvitationId = idsOf<InvitationId>('invitation id');
export const parseSocialId = idsOf<SocialId>('message id');
/** The id of a notification: 24 hexadecimal digits, as clients of such services expect. */
export const parseNotificationId = idsOf<NotificationId>('notification id', parseHexId);
/** The id of a correction: 24 hexadecimal digits. */
export const parseCorrectionId = idsOf<CorrectionId>('correction id', parseHexId);
export const parseAccessKeyId = idsOf<AccessKeyId>('key id');
export const parseUserId = idsOf<UserId>('user id');
const usernamePattern = /^[A-Za-z0-9._@-]+$/;

/** Usernames differ in more than their letter case. */
export const sameUsername = (one: string, other: string): boolean =>
  one.toLowerCase() === other.toLowerCase();

/** The username of an account: letters, digits and . _ @ -; never the guest's. */
export function parseUsername(text: unknown): Username {
  if (typeof text !== 'string') throw invalid('username must be a string');
  if (text.length === 0) throw invalid('username must not be empty');
  if (text.length > limits.usernameCharactersMax) {
    throw invalid(`username must have at most ${limits.usernameCharactersMax} characters`);
  }
  if (!usernamePattern.test(text)) {
    throw invalid('username may hold letters, digits and . _ @ - only');
  }
  if (dotPath.test(text)) throw invalid(`username ${text} could not be in any URL`);
  if (text.toLowerCase() === guestUsername) throw invalid('username guest is taken by the service');
  return text as Username;
}

/** The username of an account that is to be made: not "me" either, which means the caller. */
export function parseNewUsername(text: unknown): Username {
  const username = parseUsername(text);
  if (username.toLowerCase() !== 'me') return username;
  throw invalid('username me stands for whoever is logged in: choose another');
}
