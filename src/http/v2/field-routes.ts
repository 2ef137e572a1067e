import Type from 'typebox';
import type { Actor } from '../../domain/actor.ts';
import { type Measures, measuresWords } from '../../domain/devices/device.ts';
import { invalid } from '../../domain/errors.ts';
import { parseUsername, type Username } from '../../domain/ids.ts';
import { visibilities } from '../../wire/device.ts';
import { readMeta } from '../../wire/fields.ts';
import { LocationMessage } from '../../wire/location.ts';
import { bareJson } from '../body.ts';
import { defineCommand, type Route } from '../route.ts';
import { bareBody, type ReadBody } from '../route-body.ts';
import { optionalText, readLocation, readVisibility, requiredText } from './fields.ts';

type Params = Readonly<Record<string, string>>;

/** A field that a PUT of its bare value sets. */
export interface Field<Changes> {
  readonly name: string;
  readonly body: ReadBody<Changes>;
}

/** A text; undefined when the client sends a JSON null to remove the field. */
export const textBody = <Value>(read: (text: string | undefined) => Value): ReadBody<Value> =>
  bareBody(Type.String(), (body) => read(optionalText(body)));

/** A text that cannot be removed. */
export const requiredTextBody = bareBody(Type.String(), requiredText);

export const metaBody = bareBody(Type.Unknown(), (body) => {
  const value = bareJson(body);
  return { meta: value === null ? undefined : readMeta(value) };
});

export const visibilityBody = bareBody(
  Type.Enum([...visibilities], { type: 'string' }),
  (body) => ({ visibility: readVisibility(body) }),
);

export const measuresBody = bareBody(
  Type.Enum([...measuresWords], { type: 'string' }),
  (body): { readonly measures: Measures | undefined } => {
    const text = optionalText(body)?.trim();
    if (text === undefined) return { measures: undefined };
    const measures = measuresWords.find((word) => word === text);
    if (measures === undefined) throw invalid('measures must be gauge, counter or amount');
    return { measures };
  },
);

export const locationBody = bareBody(LocationMessage, (body) => ({ location: readLocation(body) }));

const errors = ['invalid', 'unauthenticated', 'forbidden', 'not_found'] as const;

/** A PUT route for each field of a thing. */
export function fieldRoutes<Changes>(options: {
  /** Of the thing itself, for instance /devices/:device_id. */
  readonly path: string;
  readonly tag: string;
  /** With its article, for instance "a device". */
  readonly thing: string;
  readonly fields: readonly Field<Changes>[];
  readonly update: (actor: Actor, params: Params, changes: Changes) => Promise<void>;
}): readonly Route[] {
  const { path, tag, thing, fields, update } = options;
  return fields.map((field) =>
    defineCommand({
      method: 'PUT',
      path: `${path}/${field.name}`,
      tag,
      summary: `Set the ${field.name} of ${thing}`,
      body: field.body,
      done: 'Set.',
      errors,
      perform: ({ actor, params, body }) => update(actor, params, body),
    }),
  );
}

/** The PUT by which an owner gives a thing to another account. */
export function ownerRoute(options: {
  readonly path: string;
  readonly tag: string;
  readonly thing: string;
  readonly handOver: (actor: Actor, params: Params, owner: Username) => Promise<void>;
}): Route {
  const { path, tag, thing, handOver } = options;
  return defineCommand({
    method: 'PUT',
    path: `${path}/owner`,
    tag,
    summary: `Hand ${thing} over to another user`,
    body: requiredTextBody,
    done: 'Handed over.',
    errors,
    perform: ({ actor, params, body }) => handOver(actor, params, parseUsername(body.trim())),
  });
}
