import Type from 'typebox';
import type { Actor } from '../../domain/actor.ts';
import type { HistoryQuery } from '../../domain/datapoints/history.ts';
import type { MergedHistory, ReadMany } from '../../domain/datapoints/merged-history.ts';
import { type DeviceId, parseProjectId } from '../../domain/ids.ts';
import type { Projects } from '../../domain/projects/projects.ts';
import type { Spelling } from '../../wire/spelling.ts';
import { csvType, type StreamAnswer, stream } from '../answer.ts';
import { type Chunks, inSlices } from '../answer-budget.ts';
import { type Route, routesOf } from '../route.ts';
import { type ZipEntry, zipped } from '../zip.ts';
import { headersOf, listText, standingHeader } from './datapoint-answer.ts';
import { DatapointsQuery, historyQuery } from './datapoints.ts';
import { deviceIdOf } from './devices.ts';
import { formatOf } from './merged-reads.ts';

const { dateFrom, date_from, dateTo, date_to } = DatapointsQuery.properties;

const ExportQuery = Type.Object({
  dateFrom,
  date_from,
  dateTo,
  date_to,
  calibrated: Type.Optional(
    Type.Boolean({ default: false, description: 'true: as calibrated; else raw, to import.' }),
  ),
});

const standsText =
  'X-Summarised-Before has the time before which retention took datapoints: they are not in it.';

/** Downloads of everything that was measured. */
export function exportRoutes(readMany: ReadMany, projects: Projects): readonly Route[] {
  return [
    routesOf('Datapoints').get('/devices/:device_id/export', {
      summary: 'Download all datapoints of a device as one CSV: sensor by sensor, raw',
      query: ExportQuery,
      answer: {
        status: 200,
        description: `A CSV that kipimo import csv reads back. ${standsText}`,
        content: { 'text/csv': Type.String({ description: 'With a header line, RFC 4180.' }) },
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

const csvOf = ({ steps }: MergedHistory, spelling: Spelling): Chunks =>
  listText(steps, formatOf(true, spelling));

/** Yields CSV after CSV, each asked for when the one before it is through. */
async function* entriesOf(
  readMany: ReadMany,
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
