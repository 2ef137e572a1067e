import Type, { type Static } from 'typebox';
import type { Actor } from '../../domain/actor.ts';
import type { History, HistoryQuery } from '../../domain/datapoints/history.ts';
import { partsOf } from '../../domain/datapoints/sensor-selection.ts';
import { parseFilter } from '../../domain/devices/query-evaluation.ts';
import { invalid } from '../../domain/errors.ts';
import { type DeviceId, parseDeviceId, parseProjectId, parseSensorId } from '../../domain/ids.ts';
import { limits } from '../../domain/limits.ts';
import { DatapointMessage } from '../../wire/datapoint.ts';
import { Flag, Plain, Word } from '../../wire/fields.ts';
import type { Spelling } from '../../wire/spelling.ts';
import { readSummary, type Summary, summaryParameters } from '../../wire/summary.ts';
import { csvType, jsonType, type StreamAnswer, stream } from '../answer.ts';
import { type Chunks, inSlices } from '../answer-budget.ts';
import { messageAnswer, type Route, routesOf } from '../route.ts';
import { type ZipEntry, zipped } from '../zip.ts';
import {
  answerSummary,
  answerWith,
  headersOf,
  listText,
  rowsFormat,
  standingHeader,
  wantsCsv,
} from './datapoint-answer.ts';
import {
  csvText,
  DatapointsQuery,
  historyQuery,
  rangeParameters,
  readAnswer,
} from './datapoints.ts';
import { deviceIdOf } from './devices.ts';
import { valueOptions, valueParameters } from './lists.ts';
import type { Services } from './services.ts';

const route = routesOf('Datapoints');

const ids = (description: string) =>
  Type.Array(Type.String(), {
    description: `${description}; a comma list, or repeated. An id that has commas comes first.`,
  });

const MergedQuery = Type.Object({
  device_id: Type.Optional(ids('Devices; at least one')),
  q: Type.Optional(
    Plain('The devices that a filter finds, instead of device_id. See GET /devices.'),
  ),
  project_id: Type.Optional(Plain('The devices of a project, instead of device_id.')),
  sensor_id: Type.Optional(ids('Sensors, of each of the devices; absent: all')),
  ...DatapointsQuery.properties,
  ...summaryParameters,
  across: Type.Optional(
    Word('With aggregate, `devices`: one bucket for all sensors of the answer together.'),
  ),
});

const LastValuesQuery = Type.Object({
  device_id: MergedQuery.properties.device_id,
  sensor_id: MergedQuery.properties.sensor_id,
  ...valueParameters,
});

/** The last value of several sensors in one call. */
function lastValuesRoute({ readLastValues }: Services): Route {
  return route.get('/sensors_data/last', {
    summary: 'Read the last value of several sensors',
    query: LastValuesQuery,
    errors: ['invalid', 'unauthenticated', 'forbidden', 'not_found'],
    answer: messageAnswer(
      'One datapoint for each sensor that has any, device after device.',
      Type.Array(DatapointMessage),
    ),
    handle: async ({ actor, query, spelling }) => {
      const selection = selectionOf(query);
      const steps = await readLastValues(actor, { ...selection, ...valueOptions(query) });
      const chunks = listText(steps, formatOf(false, spelling), true);
      return { kind: 'stream', contentType: jsonType, chunks, headers: {}, isWholeIfShort: true };
    },
  });
}

/** Reading many sensors at once [contract 6]. */
export function mergedReadRoutes(services: Services): readonly Route[] {
  const { readMany, summaries } = services;
  return [
    lastValuesRoute(services),
    route.get('/sensors_data', {
      summary: 'Read datapoints of many sensors, or aggregates of them, in order of time',
      query: MergedQuery,
      errors: ['invalid', 'unauthenticated', 'forbidden', 'not_found'],
      answer: readAnswer(),
      handle: async ({ actor, query, accept, spelling }) => {
        const isCsv = wantsCsv(query.format, accept);
        const page = historyQuery(query, isCsv);
        const { limit, across } = query;
        const devicesMax =
          across === undefined ? limits.mergedDevicesMax : limits.totalledDevicesMax;
        const deviceIds = await foundBy({ actor, query, spelling, devicesMax }, services);
        const selection =
          deviceIds === undefined
            ? { ...selectionOf(query), devicesMax }
            : { ...sensorsOf(query), deviceIds, areFound: true, devicesMax };
        const format = formatOf(isCsv, spelling);
        const summary = readSummary(query);
        requireAcross(across, summary);
        if (summary === undefined) {
          return answerWith(await readMany.merged(actor, selection, page), page, format);
        }
        return answerSummary(summaries, {
          ...{ actor, selection, query: page, limit, summary, isCsv, isOfOneSensor: false },
          ...{ format, spelling, isTotal: across !== undefined },
        });
      },
    }),
  ];
}

function requireAcross(across: string | undefined, summary: Summary | undefined): void {
  if (across === undefined) return;
  if (summary !== undefined && across !== 'devices') throw invalid('across must be devices');
  if (summary?.kind === 'aggregate') return;
  throw invalid('across needs aggregate: say what to compute of all sensors together');
}

function selectionOf(query: Pick<Static<typeof MergedQuery>, 'device_id' | 'sensor_id'>) {
  const { device_id, sensor_id } = query;
  if (device_id === undefined) throw invalid('device_id is missing: name one device or more');
  return {
    deviceIds: listed(device_id, parseDeviceId),
    areDevicesListed: true,
    ...sensorsOf({ sensor_id }),
  };
}

const sensorsOf = ({ sensor_id }: { readonly sensor_id?: readonly string[] | undefined }) =>
  sensor_id === undefined ? {} : { listedSensorIds: listed(sensor_id, parseSensorId) };

/** Splits texts that are too long for one id; a comma in others may be of an id. */
const listed = <Id extends string>(texts: readonly string[], parse: (text: string) => Id) =>
  texts.flatMap((text) =>
    text.length <= limits.idCharactersMax ? parse(text) : partsOf(text).map(parse),
  );

/** The devices of `q` or `project_id`; undefined: device_id names them. */
async function foundBy(
  given: {
    readonly actor: Actor;
    readonly query: Static<typeof MergedQuery>;
    readonly spelling: Spelling;
    readonly devicesMax: number;
  },
  { snapshots, projects }: Services,
): Promise<readonly DeviceId[] | undefined> {
  const { actor, query, spelling, devicesMax: limit } = given;
  const { device_id, q, project_id } = query;
  if ([device_id, q, project_id].filter((one) => one !== undefined).length > 1)
    throw invalid('name devices by one of device_id, q and project_id');
  if (project_id !== undefined) {
    return (await projects.get(actor, parseProjectId(project_id))).deviceIds;
  }
  if (q === undefined) return undefined;
  const filter = parseFilter(q, spelling.queryField);
  const { ids, total } = await snapshots.devices(actor, { filter, limit, offset: 0 });
  if (total > limit) throw invalid(`one request reads at most ${limit} devices, q finds ${total}`);
  return ids;
}

/** How datapoints of many sensors are written: always with their ids. */
const formatOf = (isCsv: boolean, spelling: Spelling): ReturnType<typeof rowsFormat> =>
  rowsFormat(isCsv, { ...spelling, hasIdsInCsv: true });

const ExportQuery = Type.Object({
  ...rangeParameters(),
  calibrated: Type.Optional(Flag('true: as calibrated; else raw, to import.', false)),
});

const standsText =
  'X-Summarised-Before: retention took datapoints before that time: they are not in it.';

/** Downloads of everything that was measured. */
export function exportRoutes({ readMany, projects }: Services): readonly Route[] {
  return [
    route.get('/devices/:device_id/export', {
      summary: 'Download all datapoints of a device as one CSV: sensor by sensor, raw',
      query: ExportQuery,
      answer: {
        status: 200,
        description: `A CSV that kipimo import csv reads back. ${standsText}`,
        content: { 'text/csv': csvText },
      },
      handle: async ({ actor, params, query, spelling }) => {
        const deviceIds = [deviceIdOf(params)];
        const history = await readMany.sequential(actor, { deviceIds }, everything(query));
        const chunks = csvOf(history, spelling);
        return download(`${deviceIds[0]}.csv`, csvType, chunks, headersOf(history));
      },
    }),
    routesOf('Projects').get('/projects/:project_id/export', {
      summary: 'Download all datapoints of the devices of a project: a ZIP with one CSV for each',
      query: ExportQuery,
      answer: {
        status: 200,
        description:
          'Devices whose data you may not view are left out. At most 4 GiB. ' + standsText,
        content: { 'application/zip': Type.String({ format: 'binary' }) },
      },
      handle: async ({ actor, params, query, spelling }) => {
        const project = await projects.get(actor, parseProjectId(params['project_id']));
        const all = everything(query);
        const entries = entriesOf(readMany, actor, project.deviceIds, all, spelling);
        const stands = await readMany.standsFrom(actor, project.deviceIds, all);
        const headers = standingHeader(stands);
        return download(`${project.id}.zip`, 'application/zip', zipped(entries), headers);
      },
    }),
  ];
}

const everything = (query: Parameters<typeof historyQuery>[0]): HistoryQuery =>
  historyQuery({ calibrated: false, ...query, limit: Number.MAX_SAFE_INTEGER });

const csvOf = ({ steps }: History, spelling: Spelling): Chunks =>
  listText(steps, formatOf(true, spelling));

/** Yields CSV after CSV, each asked for when the one before it is through. */
async function* entriesOf(
  readMany: Services['readMany'],
  actor: Actor,
  deviceIds: readonly DeviceId[],
  query: HistoryQuery,
  spelling: Spelling,
): AsyncGenerator<ZipEntry> {
  for (const deviceId of deviceIds) {
    const history = await readMany.ifViewable(actor, deviceId, query);
    if (history !== undefined)
      yield { name: `${deviceId}.csv`, chunks: inSlices(csvOf(history, spelling)) };
  }
}

/** Ids hold no quote, backslash or control character, so the name stands as it is. */
function download(
  fileName: string,
  contentType: string,
  chunks: Chunks,
  headers: Readonly<Record<string, string>> = {},
): StreamAnswer {
  const disposition = { 'content-disposition': `attachment; filename="${fileName}"` };
  return stream(contentType, chunks, { ...headers, ...disposition });
}
