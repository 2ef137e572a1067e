import { type ColumnBatch, toDatapoints } from '../domain/datapoints/column-batch.ts';
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
  /** Names the next message that others are told of. */
  origin(): MessageOrigin;
  /** Undefined: nobody else needs it. */
  toJson(context: PublishContext): JsonValue | undefined;
  /** Undefined: this version cannot read it. */
  fromJson(value: JsonValue): PublishContext | undefined;
}

/** Events as processes write them for each other, a text each: `[` begins what is no change. */
export interface EventText {
  ofPush(push: Push): string;
  ofSetting(change: ActuatorChange & { origin?: MessageOrigin }): string;
  /** Undefined: a version that knows more wrote it, or it says nothing. */
  read(text: string): FeedEvent | undefined;
}

/** Columns of a batch; `x` are JSON texts. */
interface BatchJson {
  readonly t: readonly number[];
  readonly r: readonly number[];
  readonly m: readonly number[];
  readonly n: readonly number[];
  readonly x?: readonly (string | null)[];
}

export const isEventText = (text: string): boolean => text.startsWith('[');

export function createEventText(contexts: PublishContextForm): EventText {
  const contextOf = (context: PublishContext | undefined): JsonValue =>
    (context && contexts.toJson(context)) ?? null;
  const withContext = (value: unknown): { readonly publishContext?: PublishContext } => {
    const publishContext = value === null ? undefined : contexts.fromJson(value as JsonValue);
    return publishContext === undefined ? {} : { publishContext };
  };

  function readEvent(parts: readonly unknown[]): FeedEvent | undefined {
    const [kind, deviceId, part, value, context, origin] = parts;
    if (typeof deviceId !== 'string' || typeof part !== 'string') return undefined;
    if (kind === 'setting') {
      return {
        ...{ kind: 'actuator', deviceId: deviceId as DeviceId, actuatorId: part as ActuatorId },
        ...{ value: value as JsonValue, ...withContext(context) },
        ...(origin !== undefined && { origin: origin as MessageOrigin }),
      };
    }
    if (kind !== 'datapoints' || !isJsonObject(value as JsonValue)) return undefined;
    return {
      ...{ kind, deviceId: deviceId as DeviceId, sensorId: part as SensorId },
      datapoints: toDatapoints(batchOf(value as unknown as BatchJson)),
      ...withContext(context),
    };
  }

  return {
    ofPush: ({ deviceId, sensorId, batch, publishContext }) =>
      JSON.stringify([
        ...['datapoints', deviceId, sensorId],
        ...[jsonOf(lastOf(batch)), contextOf(publishContext)],
      ]),
    ofSetting(change) {
      const { deviceId, actuatorId, value, publishContext } = change;
      const context = contextOf(publishContext);
      if (context === null) change.origin ??= contexts.origin();
      const { origin } = change;
      const parts = ['setting', deviceId, actuatorId, value, context];
      return JSON.stringify(origin === undefined ? parts : [...parts, origin]);
    },
    read(text) {
      try {
        const parts: unknown = parseJson(text);
        return Array.isArray(parts) ? readEvent(parts) : undefined;
      } catch {
        return undefined;
      }
    },
  };
}

/** Live streams tell the last ones of a long push. */
function lastOf(batch: ColumnBatch): ColumnBatch {
  const { count, times, received, timed, numbers, texts } = batch;
  const from = Math.max(0, count - memberLimits.datapointsPerEntryMax);
  if (from === 0) return batch;
  return {
    count: count - from,
    times: times.subarray(from, count),
    received: received.subarray(from, count),
    timed: timed.subarray(from, count),
    numbers: numbers.subarray(from, count),
    ...(texts !== undefined && { texts: texts.slice(from, count) }),
  };
}

function jsonOf({ count, times, received, timed, numbers, texts }: ColumnBatch): BatchJson {
  const rows = (column: Float64Array | Uint8Array) => Array.from(column.subarray(0, count));
  return {
    ...{ t: rows(times), r: rows(received), m: rows(timed), n: rows(numbers) },
    ...(texts !== undefined && {
      x: Array.from({ length: count }, (_, row) => texts[row] ?? null),
    }),
  };
}

function batchOf({ t, r, m, n, x }: BatchJson): ColumnBatch {
  const count = t.length;
  return {
    ...{ count, times: Float64Array.from(t), received: Float64Array.from(r) },
    ...{ timed: Uint8Array.from(m), numbers: Float64Array.from(n) },
    ...(x !== undefined && { texts: x.map((text) => text ?? undefined) }),
  };
}
