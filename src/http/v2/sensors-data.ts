import Type from 'typebox';
import type { BulkIngest } from '../../domain/datapoints/ingest-many.ts';
import { DomainError, invalid } from '../../domain/errors.ts';
import { limits } from '../../domain/limits.ts';
import { defined } from '../../lib/record.ts';
import { BulkMessage, BulkReportMessage, bulkReportToWire } from '../../wire/bulk.ts';
import { json } from '../answer.ts';
import {
  type BodySplitter,
  BrokenBodyError,
  createArraySplitter,
  createLineSplitter,
} from '../body-elements.ts';
import { createBulkElementReader, feedBulk, isEmptyLine } from '../bulk-feed.ts';
import { EdgeError } from '../errors.ts';
import { pathOf } from '../refused-pushes.ts';
import { messageAnswer, type Route, routesOf } from '../route.ts';
import { asSent, streamBody } from '../route-body.ts';
import type { Services } from './services.ts';

const ImportQuery = Type.Object({
  import: Type.Optional(
    Type.Boolean({
      default: false,
      description: 'true: what is pushed is from a file or another service; no rule looks at it.',
    }),
  ),
});

/** Pushing to many sensors of many devices in one request [contract 6]. */
export function bulkPushRoute({ ingestMany }: Services): readonly Route[] {
  const push = routesOf('Datapoints').post('/sensors_data', {
    summary: 'Push datapoints of many sensors: a JSON array, or one JSON object per line',
    query: ImportQuery,
    body: streamBody(BulkMessage, asSent),
    answer: messageAnswer(
      'What is stored is on disk; each refused line tells why.',
      BulkReportMessage,
    ),
    errors: ['invalid', 'unauthenticated', 'unsupported_media_type'],
    handle: async ({ actor, body, query, spelling, url }) => {
      const splitter = splitterFor(body.contentType);
      const read = createBulkElementReader(spelling);
      const bulk = ingestMany(actor, { isImport: query.import === true, path: pathOf(url) });
      try {
        await feedBulk({
          ...{ pieces: body.pieces, splitter },
          read: (element, line, step) => {
            if (!splitter.passesEmpty || !isEmptyLine(element)) read(element, line, step);
          },
          handOver: (step) => bulk.add(step),
          work: bulk.work,
        });
        return json(bulkReportToWire(await bulk.finish()));
      } catch (reason) {
        throw await explained(reason, bulk);
      }
    },
  });
  return [push];
}

const lineTypes: readonly string[] = [
  'application/x-ndjson',
  'application/ndjson',
  'application/jsonl',
  'application/x-jsonlines',
];

function splitterFor(contentType = 'application/json'): BodySplitter {
  const [type = ''] = contentType.toLowerCase().split(';');
  const name = type.trim();
  if (name === 'application/json') return createArraySplitter(limits.bulkLineBytesMax);
  if (lineTypes.includes(name)) return createLineSplitter(limits.bulkLineBytesMax);
  throw new EdgeError(
    'unsupported_media_type',
    `the content type ${name.slice(0, 60)} is not read here: send a JSON array as ` +
      'application/json, or one object per line as application/x-ndjson',
  );
}

/** The refusal of the whole request; lines before the failure stay stored, and are counted. */
async function explained(reason: unknown, bulk: BulkIngest): Promise<unknown> {
  if (
    reason instanceof BrokenBodyError ||
    (reason instanceof DomainError && reason.code === 'invalid')
  ) {
    await bulk.finish();
    return invalid(`${reason.message}${storedBefore(bulk)}`);
  }
  if (!(reason instanceof DomainError)) return reason;
  const { code, retryAfterSeconds } = reason;
  return new DomainError(
    code,
    reason.message + storedBefore(bulk),
    defined({ cause: reason, retryAfterSeconds }),
  );
}

function storedBefore({ stored }: BulkIngest): string {
  return stored === 0 ? '; nothing is stored' : `; ${stored} lines before it are stored`;
}
