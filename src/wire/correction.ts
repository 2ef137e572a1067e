import Type from 'typebox';
import {
  type CorrectedItem,
  type CorrectionHead,
  itemKey,
  requireItemCount,
} from '../domain/datapoints/corrections/correction.ts';
import type { CorrectionOutcome } from '../domain/datapoints/corrections/corrections.ts';
import { invalid } from '../domain/errors.ts';
import { isJsonObject, type JsonValue, tryJson } from '../lib/json.ts';
import { formatTimestamp } from '../lib/timestamp.ts';
import { readInstant } from './datapoint.ts';
import { Anything, DateText, Message, OneOf, Plain, Whole, type Wire } from './fields.ts';

/** A correction of a sensor. */
export const CorrectionMessage = Message('Correction', {
  id: Type.String(),
  kind: OneOf(['removed', 'corrected'], 'Taken away, or given other values.'),
  count: Whole('Datapoints that it touched.'),
  from: DateText('The time of the first of them.'),
  to: DateText('The time of the last of them.'),
  by: Plain('The username of who made it.'),
  date: DateText('When it was made.'),
});

const correctionId = Type.Optional(Plain('Undoes it; absent when there was nothing to change.'));

/** The outcome of a removal. */
export const RemovedMessage = Message('Removed', {
  removed: Whole('Datapoints.'),
  correction: correctionId,
});

/** The outcome of putting values right. */
export const CorrectedMessage = Message('Corrected', {
  corrected: Whole('Datapoints.'),
  missing: Type.Array(
    DateText('A timestamp, or date_received, at which there is no such datapoint.'),
  ),
  correction: correctionId,
});

const ItemMessage = Message(
  'CorrectedValue',
  {
    timestamp: Type.Optional(DateText('Of the datapoint.')),
    date_received: Type.Optional(DateText('Counts for a datapoint without timestamp alone.')),
    value: Anything('What it is to show, before calibration.'),
  },
  { required: ['value'] },
);

/** The values to put right; for the reference, `readItems` reads them. */
export const CorrectedItemsMessage = Type.Array(ItemMessage);

/** The values to put right, oldest first; of two for one time the later one counts. */
export function readItems(body: JsonValue): readonly CorrectedItem[] {
  if (!Array.isArray(body)) throw invalid('send an array of {"timestamp": …, "value": …}');
  requireItemCount(body.length);
  const items = new Map<string, CorrectedItem>();
  for (const [index, element] of body.entries()) {
    const item = readItem(element, ` of value ${index + 1}`);
    items.set(itemKey(item.time, item.isTimed), item);
  }
  return [...items.values()].sort((a, b) => a.time - b.time);
}

/** A datapoint as it was read is taken as well: its timestamp counts, where it has one. */
function readItem(element: JsonValue, where: string): CorrectedItem {
  if (!isJsonObject(element)) throw invalid(`what is put right${where} must be an object`);
  const { timestamp, date_received: received, value } = element;
  if (value === undefined || !Object.hasOwn(element, 'value')) {
    throw invalid(`the value${where} is missing`);
  }
  if (timestamp === undefined && received === undefined) {
    throw invalid(
      `the timestamp${where} is missing: name it, or date_received where there is none`,
    );
  }
  const at = received === undefined ? undefined : readInstant(received, `date_received${where}`);
  return timestamp === undefined
    ? { time: at ?? 0, isTimed: false, value }
    : { time: readInstant(timestamp, `timestamp${where}`), isTimed: true, value };
}

/** The value of a query parameter: JSON, or else the text itself. */
export function readValueParameter(text: string): JsonValue {
  const value = tryJson(text);
  return value === undefined ? text : value;
}

export function correctionToWire(correction: CorrectionHead): Wire<typeof CorrectionMessage> {
  const { id, kind, count, from, to, by, createdAt } = correction;
  return {
    ...{ id, kind, count, from: formatTimestamp(from), to: formatTimestamp(to), by },
    date: formatTimestamp(createdAt),
  };
}

const idOf = ({ id }: CorrectionOutcome) => id !== undefined && { correction: id };

export const removedToWire = (outcome: CorrectionOutcome): Wire<typeof RemovedMessage> => ({
  removed: outcome.count,
  ...idOf(outcome),
});

export const correctedToWire = (
  outcome: CorrectionOutcome & { readonly missing: readonly CorrectedItem[] },
): Wire<typeof CorrectedMessage> => ({
  corrected: outcome.count,
  missing: outcome.missing.map(({ time }) => formatTimestamp(time)),
  ...idOf(outcome),
});
