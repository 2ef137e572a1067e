import type { TSchema } from 'typebox';
import type { JsonValue } from '../lib/json.ts';
import {
  type BareBody,
  type PushBody,
  readBareBody,
  readCsvBody,
  readJsonBody,
  readOptionalBody,
  readPushBody,
} from './body.ts';
import { readStreamBody, type StreamBody } from './body-reader.ts';

/**
 * The body as its reader gets it, by kind. json: a message; push: datapoints; bare: one field's new
 * value; csv: rows; stream: piece by piece, by the handler, however long it is; optional: a JSON
 * value, or nothing.
 */
interface Sent {
  readonly json: unknown;
  readonly push: PushBody;
  readonly bare: BareBody;
  readonly csv: Uint8Array;
  readonly stream: StreamBody;
  readonly optional: JsonValue | undefined;
}

/** Notes on a body besides its kind and its schema. */
interface BodyNotes {
  readonly bytesMax?: number;
  /** The usual message, for the reference; absent: `schema`. */
  readonly documented?: TSchema;
  /** For the reference, where it is not the usual one of the kind. */
  readonly contentType?: string;
}

/** A body as data. */
export interface RouteBody extends BodyNotes {
  readonly kind: keyof Sent;
  readonly schema: TSchema;
}

/** A body with the reader that makes what the handler is given. Readers throw DomainError. */
export interface ReadBody<Value> extends RouteBody {
  readonly read: (sent: unknown) => Value;
}

const bodyOf =
  <Kind extends keyof Sent>(kind: Kind) =>
  <Value>(
    schema: TSchema,
    read: (sent: Sent[Kind]) => Value,
    notes?: BodyNotes,
  ): ReadBody<Value> => ({
    ...{ kind, schema, ...notes },
    // The route is handed what `parsers` made of a body of this kind, in the words of version 2.
    read: (sent) => read(sent as Sent[Kind]),
  });

export const jsonBody = bodyOf('json');
export const pushBody = bodyOf('push');
export const bareBody = bodyOf('bare');
export const csvBody = bodyOf('csv');
export const streamBody = bodyOf('stream');
export const optionalBody = bodyOf('optional');

/** The reader of a body whose handler reads it. */
export const asSent = <Value>(sent: Value): Value => sent;

/** Parsers of sent bodies, by the kind of the body. */
export const parsers: {
  readonly [Kind in keyof Sent]: (body: unknown, contentType: string | undefined) => Sent[Kind];
} = {
  json: readJsonBody,
  push: readPushBody,
  bare: readBareBody,
  csv: readCsvBody,
  stream: readStreamBody,
  optional: readOptionalBody,
};
