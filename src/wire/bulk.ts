import Type from 'typebox';
import type { BulkRow } from '../domain/datapoints/bulk-step.ts';
import type { SensorRef } from '../domain/datapoints/datapoint.ts';
import type { BulkReport } from '../domain/datapoints/ingest-many.ts';
import { DomainError, invalid } from '../domain/errors.ts';
import { parseDeviceId, parseSensorId } from '../domain/ids.ts';
import { limits } from '../domain/limits.ts';
import { isJsonObject, JsonError, type JsonValue, parseJson } from '../lib/json.ts';
import { defined } from '../lib/record.ts';
import { readDatapoint } from './datapoint.ts';
import { Anything, DateText, Prose, type Wire } from './fields.ts';
import { type Spelling, v2Spelling } from './spelling.ts';

const BulkDatapointMessage = Type.Object(
  {
    device_id: Type.String(),
    sensor_id: Type.String(),
    value: Anything('The measurement: any JSON value.'),
    timestamp: Type.Optional(DateText('When it was measured.')),
  },
  { title: 'NewSensorDatapoint' },
);

/** A bulk request; for the reference only, its elements are read by `readBulkLine`. */
export const BulkMessage = Type.Array(BulkDatapointMessage);

/** The outcome of a bulk request. */
export const BulkReportMessage = Type.Object(
  {
    stored: Type.Integer({ description: 'Lines that are on disk; repeated ones count.' }),
    refused: Type.Array(
      Type.Object({
        line: Type.Integer({ description: 'From 1: the element of the array, or the line.' }),
        error: Type.String(),
        description: Prose('What to change.'),
      }),
      { description: `The first ${limits.bulkRefusalsMax}.` },
    ),
    refused_count: Type.Integer({ description: 'All of them.' }),
  },
  { title: 'BulkReport' },
);

/** Reads an element of a bulk request; what is wrong with it becomes its refusal. */
export function readBulkLine(
  text: string,
  line: number,
  { deviceId, sensorId }: Spelling = v2Spelling,
): BulkRow {
  let sensor: SensorRef | undefined;
  try {
    const body = parseLine(text);
    if (!isJsonObject(body)) {
      throw invalid(`send an object {"${deviceId}", "${sensorId}", "value", "timestamp"?}`);
    }
    sensor = { deviceId: parseDeviceId(body[deviceId]), sensorId: parseSensorId(body[sensorId]) };
    return { line, sensor, datapoint: readDatapoint(body, '') };
  } catch (reason) {
    if (!(reason instanceof DomainError)) throw reason;
    return defined({ line, refusal: reason, sent: text, sensor });
  }
}

function parseLine(text: string): JsonValue {
  try {
    return parseJson(text, limits.jsonDepthMax, limits.jsonCostMax);
  } catch (error) {
    if (!(error instanceof JsonError)) throw error;
    throw invalid(`not valid JSON: ${error.message}`);
  }
}

/** The report as clients see it. */
export function bulkReportToWire(report: BulkReport): Wire<typeof BulkReportMessage> {
  const { stored, refused, refusedCount } = report;
  return {
    stored,
    refused: refused.map(({ line, refusal }) => ({
      line,
      error: refusal.code,
      description: refusal.message,
    })),
    refused_count: refusedCount,
  };
}
