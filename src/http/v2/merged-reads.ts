import Type, { type Static } from 'typebox';
import type { ReadLastValues } from '../../domain/datapoints/last-values.ts';
import type { ReadMany, SensorDatapoint } from '../../domain/datapoints/merged-history.ts';
import type { Summaries } from '../../domain/datapoints/summaries.ts';
import { invalid } from '../../domain/errors.ts';
import { parseDeviceId, parseSensorId } from '../../domain/ids.ts';
import { csvRow } from '../../wire/csv.ts';
import { createManySensorsWriter, DatapointMessage } from '../../wire/datapoint.ts';
import type { Spelling } from '../../wire/spelling.ts';
import { BucketMessage, readSummary, summaryParameters } from '../../wire/summary.ts';
import { jsonType, text } from '../answer.ts';
import { defineRoute, messageAnswer, type Route } from '../route.ts';
import { answerWith, csvFormat, type Format, jsonFormat, wantsCsv } from './datapoint-answer.ts';
import { DatapointsQuery, historyQuery } from './datapoints.ts';
import { valueOptions, valueParameters } from './fields.ts';
import { answerSummary } from './summary-answer.ts';

const tag = 'Datapoints';

const ids = (description: string) =>
  Type.Array(Type.String(), { description: `${description}; a comma list, or repeated.` });

const MergedQuery = Type.Object({
  device_id: Type.Optional(ids('Devices; at least one')),
  sensor_id: Type.Optional(ids('Sensors, of each of the devices; absent: all')),
  ...DatapointsQuery.properties,
  ...summaryParameters,
});

const LastValuesQuery = Type.Object({
  device_id: MergedQuery.properties.device_id,
  sensor_id: MergedQuery.properties.sensor_id,
  ...valueParameters,
});

export interface MergedReadServices {
  readonly readMany: ReadMany;
  readonly summaries: Summaries;
  readonly readLastValues: ReadLastValues;
}

/** The last value of several sensors in one call. */
function lastValuesRoute(readLastValues: ReadLastValues): Route {
  return defineRoute({
    method: 'GET',
    path: '/sensors_data/last',
    tag,
    summary: 'Read the last value of several sensors',
    query: LastValuesQuery,
    answer: messageAnswer(
      'One datapoint for each sensor that has any, device after device.',
      Type.Array(DatapointMessage),
    ),
    errors: ['invalid', 'unauthenticated', 'forbidden', 'not_found'],
    handle: async ({ actor, query, spelling }) => {
      const selection = selectionOf(query);
      const last = await readLastValues(actor, { ...selection, ...valueOptions(query) });
      const write = createManySensorsWriter(spelling);
      return text(jsonType, `[${last.map(write).join(',')}]`);
    },
  });
}

/** Reading many sensors at once [contract 6]. */
export function mergedReadRoutes({
  readMany,
  summaries,
  readLastValues,
}: MergedReadServices): readonly Route[] {
  return [
    lastValuesRoute(readLastValues),
    defineRoute({
      method: 'GET',
      path: '/sensors_data',
      tag,
      summary: 'Read datapoints of many sensors, or aggregates of them, in order of time',
      query: MergedQuery,
      answer: {
        status: 200,
        description: 'Datapoints; X-Total-Count has the number of all in the range.',
        content: {
          'application/json': Type.Array(Type.Union([DatapointMessage, BucketMessage])),
          'text/csv': Type.String({ description: 'With a header line, RFC 4180.' }),
        },
      },
      errors: ['invalid', 'unauthenticated', 'forbidden', 'not_found'],
      handle: async ({ actor, query, accept, spelling }) => {
        const page = historyQuery(query);
        const selection = selectionOf(query);
        const isCsv = wantsCsv(query.format, accept);
        const format = formatOf(isCsv, spelling);
        const summary = readSummary(query);
        if (summary === undefined) {
          return answerWith(await readMany.merged(actor, selection, page), page, format);
        }
        const { limit } = query;
        return answerSummary(summaries, {
          ...{ actor, selection, query: page, limit, summary, isCsv, isOfOneSensor: false },
          ...{ format, spelling },
        });
      },
    }),
  ];
}

function selectionOf(query: Pick<Static<typeof MergedQuery>, 'device_id' | 'sensor_id'>) {
  const { device_id, sensor_id } = query;
  if (device_id === undefined) throw invalid('device_id is missing: name one device or more');
  const deviceIds = [...new Set(device_id.map(parseDeviceId))];
  if (sensor_id === undefined) return { deviceIds };
  return { deviceIds, sensorIds: [...new Set(sensor_id.map(parseSensorId))] };
}

/** How datapoints of many sensors are written. */
export function formatOf(isCsv: boolean, spelling: Spelling): Format<SensorDatapoint> {
  if (!isCsv) return { ...jsonFormat, item: createManySensorsWriter(spelling) };
  return {
    ...csvFormat(spelling),
    item: ({ sensor, datapoint }) => csvRow({ ...sensor, datapoint }),
  };
}
