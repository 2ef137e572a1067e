import { parseScope } from '../../../src/domain/access/scopes.ts';
import { type Measures, measuresWords } from '../../../src/domain/devices/device.ts';
import { DomainError, invalid } from '../../../src/domain/errors.ts';
import {
  guestUsername,
  parseActuatorId,
  parseDeviceId,
  parseGatewayId,
  parseGroupId,
  parseInvitationId,
  parseNewUsername,
  parseNotificationId,
  parseProjectId,
  parseSensorId,
  parseUserId,
  parseUsername,
} from '../../../src/domain/ids.ts';
import type { InvitationTarget, TakenUse } from '../../../src/domain/sharing/invitations.ts';
import { ownEntry } from '../../../src/lib/own-entry.ts';
import { isTakeableHash } from '../../../src/lib/password-hash.ts';
import { isRecord } from '../../../src/lib/record.ts';
import { parseNewUserId } from '../account-work.ts';
import type { ExportRecord } from './export-format.ts';

/** Reads a field of a line as the API does, and throws where that refuses it. */
type Read = (value: never) => unknown;

/**
 * The fields to be checked of each kind of line, by their paths. `*` stands for each element of an
 * array, where there is one; `+` also for what should be an array and is none.
 */
const checks: { readonly [Kind in ExportRecord['kind']]?: Readonly<Record<string, Read>> } = {
  user: {
    'user.id': parseNewUserId,
    'user.username': parseNewUsername,
    'user.lastLoginAt': (at: unknown) => readCount(at ?? 0),
    passwordHash: readHash,
  },
  device: {
    'device.id': parseDeviceId,
    'device.owner': readOwner,
    'device.sensors.*.id': parseSensorId,
    'device.sensors.*.measures': readMeasures,
    'device.actuators.*.id': parseActuatorId,
  },
  gateway: { 'gateway.id': parseGatewayId, 'gateway.owner': readOwner },
  project: {
    'project.id': parseProjectId,
    'project.owner': readOwner,
    'project.deviceIds.*': parseDeviceId,
    'project.gatewayIds.*': parseGatewayId,
  },
  group: {
    'group.id': parseGroupId,
    'group.owner': readOwner,
    'group.usernames.*': parseUsername,
  },
  grant: { 'grant.username': parseUsername, 'grant.scopes.*': parseScope },
  'group-grant': { 'grant.scopes.*': parseScope },
  correction: { 'correction.deviceId': parseDeviceId, 'correction.sensorId': parseSensorId },
  invitation: {
    'invitation.id': parseInvitationId,
    'invitation.giver': parseUserId,
    'invitation.hash': readText,
    'invitation.createdAt': readCount,
    'invitation.expiresAt': readCount,
    'invitation.usesLeft': readCount,
    'invitation.targets.+': readTarget,
    'uses.+': readUse,
  },
  notification: { 'notification.id': parseNotificationId, 'notification.owner': readOwner },
};

/** Refuses what the API would refuse. Throws invalid with the line, the field and the remedy. */
export function requireTakeable(line: ExportRecord, number: number): void {
  for (const [path, read] of Object.entries(ownEntry(checks, line.kind) ?? {})) {
    const parts = path.split('.');
    for (const value of valuesAt(line, parts)) {
      try {
        // Reading is what checks it.
        read(value as never);
      } catch (cause) {
        const why = cause instanceof DomainError ? cause.message : 'it cannot be read';
        const names = parts.filter((part) => part !== '*' && part !== '+');
        const field = names.length === 1 ? names[0] : names.slice(1).join('.');
        const seen = `${JSON.stringify(value)}`.slice(0, 100);
        throw invalid(`line ${number}, ${field} ${seen}: ${why}`);
      }
    }
  }
}

function* valuesAt(value: unknown, [part, ...rest]: readonly string[]): Generator<unknown> {
  if (part === undefined) yield value;
  else if (part !== '*' && part !== '+') {
    yield* valuesAt(isRecord(value) ? value[part] : undefined, rest);
  } else if (Array.isArray(value)) {
    for (const element of value) yield* valuesAt(element, rest);
  } else if (part === '+') yield value;
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
