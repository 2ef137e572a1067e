import type { Change } from '../domain/changes.ts';
import { memberLimits } from '../domain/members/member-limits.ts';

const kinds: Readonly<Record<Change['kind'], true>> = {
  device_changed: true,
  device_handed_over: true,
  device_removed: true,
  sensor_removed: true,
  datapoints_corrected: true,
  actuator_removed: true,
  gateway_handed_over: true,
  gateway_removed: true,
  project_changed: true,
  project_removed: true,
  grant_changed: true,
  group_changed: true,
  account_changed: true,
  account_disabled: true,
  account_removed: true,
  user_added: true,
  key_removed: true,
  login_ended: true,
  rule_changed: true,
  settings_changed: true,
  anything: true,
};

const anything: Change = { kind: 'anything' };

/** A change as processes write it for each other; what is too long says that anything changed. */
export function textOfChange(change: Change): string {
  const text = JSON.stringify(change);
  return text.length <= memberLimits.entryCharactersMax ? text : JSON.stringify(anything);
}

/** The change; of a kind that this version does not know, that anything may have changed. */
export function changeOfText(text: string): Change {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return anything;
  }
  if (typeof value !== 'object' || value === null || !('kind' in value)) return anything;
  const { kind } = value;
  // A value of a kind that we know was written by `textOfChange` of a process like this one.
  return typeof kind === 'string' && Object.hasOwn(kinds, kind) ? (value as Change) : anything;
}
