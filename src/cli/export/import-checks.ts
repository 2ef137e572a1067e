import { parseScope } from '../../domain/access/scopes.ts';
import { type Measures, measuresWords } from '../../domain/devices/device.ts';
import { DomainError, invalid } from '../../domain/errors.ts';
import {
  guestUsername,
  parseActuatorId,
  parseDeviceId,
  parseGatewayId,
  parseGroupId,
  parseInvitationId,
  parseNewUserId,
  parseNewUsername,
  parseNotificationId,
  parseProjectId,
  parseSensorId,
  parseUserId,
  parseUsername,
} from '../../domain/ids.ts';
import type { InvitationTarget, TakenUse } from '../../domain/sharing/invitations.ts';
import { isTakeableHash } from '../../lib/password-hash.ts';
import type { ExportRecord } from './export-format.ts';

/** A field of a line, by its path, and what reads it as the API does. */
type Check = readonly [field: string, value: unknown, read: (value: never) => unknown];

/**
 * Refuses a line whose names, ids or rights the API would refuse. Throws invalid that names the
 * line, the field and what to change.
 */
export function requireTakeable(line: ExportRecord, number: number): void {
  for (const [field, value, read] of checksOf(line)) {
    try {
      // Reading is what checks it.
      read(value as never);
    } catch (cause) {
      const why = cause instanceof DomainError ? cause.message : 'it cannot be read';
      const seen = `${JSON.stringify(value)}`.slice(0, 100);
      throw invalid(`line ${number}, ${field} ${seen}: ${why}`);
    }
  }
}

const named = (value: unknown): readonly Check[] => [['username', value, parseUsername]];

const each = (field: string, values: unknown, read: (value: never) => unknown): readonly Check[] =>
  Array.isArray(values) ? values.map((value) => [field, value, read] as const) : [];

function checksOf(line: ExportRecord): readonly Check[] {
  switch (line.kind) {
    case 'user':
      return [
        ['id', line.user?.id, parseNewUserId],
        ['username', line.user?.username, parseNewUsername],
        ['lastLoginAt', line.user?.lastLoginAt ?? 0, readCount],
        ['passwordHash', line.passwordHash, readHash],
      ];
    case 'device': {
      const { id, owner, sensors, actuators } = line.device ?? {};
      const listOf = (parts: unknown): readonly unknown[] => (Array.isArray(parts) ? parts : []);
      const fieldsOf = (parts: unknown, field: 'id' | 'measures') =>
        listOf(parts).map(
          (part) => (part as Partial<Record<typeof field, unknown>> | null)?.[field],
        );
      return [
        ['id', id, parseDeviceId],
        ['owner', owner, readOwner],
        ...each('sensors.id', fieldsOf(sensors, 'id'), parseSensorId),
        ...each('sensors.measures', fieldsOf(sensors, 'measures'), readMeasures),
        ...each('actuators.id', fieldsOf(actuators, 'id'), parseActuatorId),
      ];
    }
    case 'gateway':
      return [
        ['id', line.gateway?.id, parseGatewayId],
        ['owner', line.gateway?.owner, readOwner],
      ];
    case 'project':
      return [
        ['id', line.project?.id, parseProjectId],
        ['owner', line.project?.owner, readOwner],
        ...each('deviceIds', line.project?.deviceIds, parseDeviceId),
        ...each('gatewayIds', line.project?.gatewayIds, parseGatewayId),
      ];
    case 'group':
      return [
        ['id', line.group?.id, parseGroupId],
        ['owner', line.group?.owner, readOwner],
        ...each('usernames', line.group?.usernames, parseUsername),
      ];
    case 'grant':
      return [...named(line.grant?.username), ...each('scopes', line.grant?.scopes, parseScope)];
    case 'group-grant':
      return each('scopes', line.grant?.scopes, parseScope);
    case 'correction':
      return [
        ['deviceId', line.correction?.deviceId, parseDeviceId],
        ['sensorId', line.correction?.sensorId, parseSensorId],
      ];
    case 'invitation':
      return checksOfInvitation(line);
    case 'notification':
      return [
        ['id', line.notification?.id, parseNotificationId],
        ['owner', line.notification?.owner, readOwner],
      ];
    default:
      return [];
  }
}

function checksOfInvitation(
  line: Extract<ExportRecord, { readonly kind: 'invitation' }>,
): readonly Check[] {
  const { id, giver, hash, targets, createdAt, expiresAt, usesLeft } = line.invitation ?? {};
  const listOf = (list: unknown): readonly unknown[] => (Array.isArray(list) ? list : [list]);
  return [
    ['id', id, parseInvitationId],
    ['giver', giver, parseUserId],
    ['hash', hash, readText],
    ['createdAt', createdAt, readCount],
    ['expiresAt', expiresAt, readCount],
    ['usesLeft', usesLeft, readCount],
    ...listOf(targets).map((target) => ['targets', target, readTarget] as const),
    ...listOf(line.uses).map((use) => ['uses', use, readUse] as const),
  ];
}

/** Checks an owner's name; things without an owner are the guest's. */
function readOwner(name: string): void {
  if (name !== guestUsername) parseUsername(name);
}

function readText(text: unknown): void {
  if (typeof text !== 'string' || text === '') throw invalid('it must be a text');
}

function readCount(count: unknown): void {
  if (!Number.isSafeInteger(count)) throw invalid('it must be a whole number');
}

function readTarget(target: InvitationTarget | null | undefined): void {
  const parse = targetIds.get(target?.kind ?? '');
  if (!target || parse === undefined) throw invalid('it must be a device, a project or a group');
  parse(target.resource);
  if (target.kind === 'group') return;
  if (!Array.isArray(target.scopes)) throw invalid('it must have a list of scopes');
  for (const scope of target.scopes) parseScope(scope);
}

const targetIds = new Map<string, (id: unknown) => unknown>([
  ['device', parseDeviceId],
  ['project', parseProjectId],
  ['group', parseGroupId],
]);

function readUse(use: Partial<TakenUse> | null | undefined): void {
  parseUserId(use?.user);
  if (typeof use?.isGiven !== 'boolean') throw invalid('it must say whether it was given');
}

function readMeasures(word: Measures | undefined): void {
  if (word === undefined || measuresWords.includes(word)) return;
  throw invalid(`it must be one of ${measuresWords.join(', ')}`);
}

function readHash(hash: string): void {
  // Any other text matches no password.
  if (typeof hash === 'string' && (!hash.startsWith('$argon2') || isTakeableHash(hash))) return;
  throw invalid(
    'it must be an argon2id hash that costs at most four times our own: give the account a new ' +
      'password with kipimo user password',
  );
}
