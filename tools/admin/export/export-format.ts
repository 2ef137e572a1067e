import type { Grant, GroupGrant } from '../../../src/domain/access/grant.ts';
import type { Correction } from '../../../src/domain/datapoints/corrections/correction.ts';
import type {
  Retention,
  RetentionScope,
} from '../../../src/domain/datapoints/retention/retention.ts';
import type { Device } from '../../../src/domain/devices/device.ts';
import type { Gateway } from '../../../src/domain/gateways/gateways.ts';
import type { Group } from '../../../src/domain/groups/groups.ts';
import type { Username } from '../../../src/domain/ids.ts';
import type { KeptSettings } from '../../../src/domain/installation-store.ts';
import type {
  DeviceState,
  Notification,
  Tally,
} from '../../../src/domain/notifications/notification.ts';
import type { Project, UnsharedMembers } from '../../../src/domain/projects/projects.ts';
import type { Invitation, TakenUse } from '../../../src/domain/sharing/invitations.ts';
import type { Social } from '../../../src/domain/socials/socials.ts';
import type { AccessKeyRecord } from '../../../src/domain/users/credential-store.ts';
import type { User } from '../../../src/domain/users/user.ts';
import type { JsonValue } from '../../../src/lib/json.ts';

/** The version that is written; older ones are read for ever (docs/export-format.md). */
export const exportVersion = 5;

/** A datapoint: value, timestamp or null, time of receipt; milliseconds since 1970. */
export type ExportedDatapoint = readonly [
  value: JsonValue,
  timestamp: number | null,
  receivedAt: number,
];

/**
 * An hour; its sum is null where it is more than a double holds. Behind it for hours with both
 * kinds of numbers `listOfKinds`, with null for such sums, and since version 4 for hours with three
 * numbers or more `listOfEdges`, with null for what there is none of.
 */
export type ExportedHour = readonly [
  begin: number,
  count: number,
  numbers: number,
  textNumbers: number,
  min: number,
  max: number,
  sum: number | null,
  first: number,
  last: number,
  rise: number,
  fall: number,
  kinds?: readonly (number | null)[] | null,
  edges?: readonly (number | null)[],
];

/** A line of an export; the things that it names stand in lines before it. */
export type ExportRecord =
  | { readonly kind: 'kipimo-export'; readonly version: number; readonly account: Username | null }
  | { readonly kind: 'settings'; readonly settings: KeptSettings }
  | { readonly kind: 'user'; readonly user: User; readonly passwordHash: string }
  | { readonly kind: 'key'; readonly key: AccessKeyRecord }
  | { readonly kind: 'device'; readonly device: Device }
  | {
      readonly kind: 'values';
      readonly device: string;
      readonly sensor: string;
      readonly values: readonly ExportedDatapoint[];
    }
  /** Set for the user, the device or the sensor that stands before it; since version 3. */
  | { readonly kind: 'retention'; readonly scope: RetentionScope; readonly retention: Retention }
  /** Tallies of hours whose values retention removed; since version 3. */
  | {
      readonly kind: 'hours';
      readonly device: string;
      readonly sensor: string;
      readonly rawBefore: number;
      readonly openHour: number | null;
      readonly hours: readonly ExportedHour[];
    }
  /** Laid over the values of its sensor, in the order of these lines; since version 2. */
  | { readonly kind: 'correction'; readonly correction: Correction }
  | { readonly kind: 'gateway'; readonly gateway: Gateway }
  | { readonly kind: 'project'; readonly project: Project; readonly unshared: UnsharedMembers }
  | { readonly kind: 'group'; readonly group: Group }
  | { readonly kind: 'grant'; readonly grant: Grant }
  | { readonly kind: 'group-grant'; readonly grant: GroupGrant }
  | {
      readonly kind: 'notification';
      readonly notification: Notification;
      readonly tally: Tally;
      readonly states: readonly (readonly [device: string, state: DeviceState])[];
    }
  /** Of the account that gave it, with who took it; since version 5. */
  | {
      readonly kind: 'invitation';
      readonly invitation: Invitation;
      readonly uses: readonly TakenUse[];
    }
  | { readonly kind: 'social'; readonly social: Social }
  | { readonly kind: 'end'; readonly lines: number };

/** Counts a line; values count as datapoints. */
export function countLine(counts: Map<string, number>, line: ExportRecord): void {
  const many =
    line.kind === 'values' ? line.values.length : line.kind === 'hours' ? line.hours.length : 1;
  const names: Partial<Record<ExportRecord['kind'], string>> = {
    values: 'datapoint',
    hours: 'hour',
  };
  const name = names[line.kind] ?? line.kind;
  counts.set(name, (counts.get(name) ?? 0) + many);
}

/** The counts as a sentence of people: 2 users, 1 device. */
export function countsText(counts: ReadonlyMap<string, number>): string {
  const parts = [...counts]
    .filter(([kind]) => kind !== 'kipimo-export' && kind !== 'end')
    .map(([kind, count]) => `${count} ${kind}${count === 1 ? '' : 's'}`);
  return parts.length === 0 ? 'nothing' : parts.join(', ');
}
