import type { Change } from '../domain/changes.ts';
import { type ColumnBatch, sliceBatch, toDatapoints } from '../domain/datapoints/column-batch.ts';
import type { Push } from '../domain/datapoints/datapoint-store.ts';
import type { FeedEvent } from '../domain/datapoints/feed.ts';
import type { ActuatorChange } from '../domain/devices/actuators.ts';
import type { ActuatorId, DeviceId, SensorId } from '../domain/ids.ts';
import { memberLimits } from '../domain/members/member-limits.ts';
import type { MessageOrigin } from '../domain/messaging/message.ts';
import type { PublishContext } from '../domain/publish-context.ts';
import { isJsonObject, type JsonValue, parseJson } from '../lib/json.ts';

/** How publish contexts travel to other processes: the server that makes them knows. */
export interface PublishContextForm {
  /** Names the next message that is published to other processes. */
  origin(): MessageOrigin;
  /** The same of a setting: it is published here before it is told, so settings have an order. */
  settingOrigin(): MessageOrigin;
  /** The context of a push, of each part of one, or of a setting. Undefined: none is needed. */
  toJson(context: PublishContext, as?: 'part' | 'setting'): JsonValue | undefined;
  /** Whether the context has all of a push of so many datapoints: no parts of it are published. */
  hasWhole(context: PublishContext, count: number): boolean;
  /** Undefined: this version cannot read it. */
  fromJson(value: JsonValue): PublishContext | undefined;
}

/** Columns of a batch; `x` are JSON texts. A column of one number alone has that in each row. */
interface BatchJson {
  readonly t: Column;
  readonly r: Column;
  readonly m: Column;
  readonly n: readonly number[];
  readonly x?: readonly (string | null)[];
}

type Column = readonly number[] | number;
export const isEventText = (text: string): boolean => text.startsWith('[');

/** Events as processes write them for each other, a text each: `[` begins what is no change. */
export function createEventText(contexts: PublishContextForm) {
  const contextOf = (context: PublishContext | undefined, as?: 'part' | 'setting'): JsonValue =>
    (context && contexts.toJson(context, as)) ?? null;
  const withContext = (value: unknown): { readonly publishContext?: PublishContext } => {
    const publishContext = value === null ? undefined : contexts.fromJson(value as JsonValue);
    return publishContext === undefined ? {} : { publishContext };
  };

  function readEvent(parts: readonly unknown[]): FeedEvent | undefined {
    const [kind, deviceId, part, value, context, more] = parts;
    if (typeof deviceId !== 'string' || typeof part !== 'string') return undefined;
    if (kind === 'setting') {
      return {
        ...{ kind: 'actuator', deviceId: deviceId as DeviceId, actuatorId: part as ActuatorId },
        ...{ value: value as JsonValue, ...withContext(context) },
        ...(more !== undefined && { origin: more as MessageOrigin }),
      };
    }
    if ((kind !== 'datapoints' && kind !== 'part') || !isJsonObject(value as JsonValue)) {
      return undefined;
    }
    return {
      ...{ kind: 'datapoints', deviceId: deviceId as DeviceId, sensorId: part as SensorId },
      datapoints: toDatapoints(batchOf(value as unknown as BatchJson)),
      ...(kind === 'part' && { isPart: true }),
      ...(more !== undefined && { wholeCount: Number(more) }),
      ...withContext(context),
    };
  }

  const hasWhole = ({ publishContext: context, batch }: Push): boolean =>
    context !== undefined && contexts.hasWhole(context, batch.count);

  function ofLast(push: Push): string {
    const { deviceId, sensorId, batch, publishContext } = push;
    const rest = jsonOf(sliceBatch(batch, firstOfLast(push), batch.count));
    const parts = ['datapoints', deviceId, sensorId, rest, contextOf(publishContext)];
    return JSON.stringify(hasWhole(push) ? [...parts, batch.count] : parts);
  }

  return {
    /** Yields the text of the last datapoints; before it, those of the parts of a long push. */
    *ofPush(push: Push): Generator<string, void> {
      const { deviceId, sensorId, batch, publishContext } = push;
      const last = hasWhole(push) ? 0 : firstOfLast(push);
      for (let from = 0, to = 0; from < last; from = to) {
        to = endOfPart(batch, from, last);
        const part = jsonOf(sliceBatch(batch, from, to));
        const context = contextOf(publishContext, 'part');
        yield JSON.stringify(['part', deviceId, sensorId, part, context]);
      }
      yield ofLast(push);
    },
    /** The text of the last datapoints alone. */
    ofLast,
    ofSetting(change: ActuatorChange & { origin?: MessageOrigin }): string {
      const { deviceId, actuatorId, value, publishContext } = change;
      const context = contextOf(publishContext, 'setting');
      if (context === null) change.origin ??= contexts.settingOrigin();
      const { origin } = change;
      const parts = ['setting', deviceId, actuatorId, value, context];
      return JSON.stringify(origin === undefined ? parts : [...parts, origin]);
    },
    /** Undefined: a version that knows more wrote it, or it says nothing. */
    read(text: string): FeedEvent | undefined {
      try {
        const parts: unknown = parseJson(text);
        return Array.isArray(parts) ? readEvent(parts) : undefined;
      } catch {
        return undefined;
      }
    },
  };
}

export type EventText = ReturnType<typeof createEventText>;

const firstOfLast = ({ batch }: Push): number =>
  Math.max(0, batch.count - memberLimits.datapointsPerEntryMax);

/** The rows from `from` on that one entry has: few enough, and not too long. */
function endOfPart({ texts }: ColumnBatch, from: number, last: number): number {
  const most = Math.min(last, from + memberLimits.datapointsPerEntryMax);
  if (texts === undefined) return most;
  let characters = 0;
  for (let row = from; row < most; row += 1) {
    characters += texts[row]?.length ?? 0;
    if (characters >= memberLimits.charactersPerPart) return row + 1;
  }
  return most;
}

function jsonOf({ count, times, received, timed, numbers, texts }: ColumnBatch): BatchJson {
  const rows = (column: Float64Array | Uint8Array) => Array.from(column.subarray(0, count));
  const column = (values: Float64Array | Uint8Array): Column => {
    const all = rows(values);
    const [first] = all;
    return first !== undefined && all.every((value) => value === first) ? first : all;
  };
  return {
    ...{ t: column(times), r: column(received), m: column(timed), n: rows(numbers) },
    ...(texts !== undefined && {
      x: Array.from({ length: count }, (_, row) => texts[row] ?? null),
    }),
  };
}

function batchOf({ t, r, m, n, x }: BatchJson): ColumnBatch {
  const count = n.length;
  const filled = <Filled extends Float64Array | Uint8Array>(
    made: Filled,
    column: Column,
  ): Filled => {
    if (typeof column === 'number') made.fill(column);
    else made.set(column);
    return made;
  };
  return {
    ...{ count, numbers: Float64Array.from(n) },
    times: filled(new Float64Array(count), t),
    received: filled(new Float64Array(count), r),
    timed: filled(new Uint8Array(count), m),
    ...(x !== undefined && { texts: x.map((text) => text ?? undefined) }),
  };
}

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
