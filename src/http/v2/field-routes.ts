import Type from 'typebox';
import type { Actor } from '../../domain/actor.ts';
import { invalid } from '../../domain/errors.ts';
import { parseUsername, type Username } from '../../domain/ids.ts';
import { limits } from '../../domain/limits.ts';
import { visibilities } from '../../wire/device.ts';
import { LocationMessage, parseLocation, readMeta } from '../../wire/fields.ts';
import { readWord } from '../../wire/validation.ts';
import { type BareBody, bareBody, bareJson, bareText, type ReadBody } from '../body.ts';
import type { Params, Route, TaggedRoutes } from '../route.ts';

/** Fields that a PUT of their bare value sets, by name. */
export type Fields<Changes> = Readonly<Record<string, ReadBody<Changes>>>;

/** A name-like text; undefined when the client sends a JSON null to remove the field. */
function optionalText(body: BareBody): string | undefined {
  const text = bareText(body);
  if (text !== undefined && text.length > limits.nameCharactersMax) {
    throw invalid(`the text must have at most ${limits.nameCharactersMax} characters`);
  }
  return text;
}

/** A text that cannot be removed. */
export function requiredText(body: BareBody): string {
  const text = optionalText(body);
  if (text === undefined) throw invalid('the body must be a text, not null');
  return text;
}

/** A body that is a text, or a JSON null to remove the field. */
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
  (body) => ({
    visibility: readWord('visibility', visibilities, requiredText(body).trim()),
  }),
);

/** A field that is one of these words. A JSON null removes it; `"null"` is the word null. */
export const wordBody = <Word extends string, Value>(
  name: string,
  words: readonly Word[],
  read: (word: Word | undefined) => Value,
): ReadBody<Value> =>
  bareBody(Type.Enum([...words], { type: 'string' }), (body) => {
    const text = optionalText(body)?.trim();
    return read(text === undefined ? undefined : readWord(name, words, text));
  });

export const locationBody = bareBody(LocationMessage, (body) => {
  const value = bareJson(body);
  return { location: value === null ? undefined : parseLocation(value) };
});

/** A PUT route for each field of a thing. */
export function fieldRoutes<Changes>(
  route: TaggedRoutes,
  options: {
    /** Of the thing itself, for instance /devices/:device_id. */
    readonly path: string;
    /** With its article, for instance "a device". */
    readonly thing: string;
    readonly fields: Fields<Changes>;
    readonly update: (actor: Actor, params: Params, changes: Changes) => Promise<void>;
  },
): readonly Route[] {
  const { path, thing, fields, update } = options;
  return Object.entries(fields).map(([name, body]) =>
    route.put(`${path}/${name}`, {
      summary: `Set the ${name} of ${thing}`,
      body,
      done: 'Set.',
      perform: ({ actor, params, body }) => update(actor, params, body),
    }),
  );
}

/** The PUTs by which an owner gives a thing to another account, which accepts it. */
export function handOverRoutes(
  route: TaggedRoutes,
  options: {
    readonly path: string;
    /** Without its article, for instance "device". */
    readonly thing: string;
    readonly acceptErrors: Route['errors'];
    readonly accept: (actor: Actor, params: Params) => Promise<void>;
    readonly handOver: (actor: Actor, params: Params, owner: Username) => Promise<void>;
  },
): readonly Route[] {
  const { path, thing, acceptErrors: errors, accept, handOver } = options;
  return [
    route.put(`${path}/accept`, {
      summary: `Accept a ${thing} that was handed over to you: it is yours from then on`,
      done: 'Accepted, or nothing was to be accepted.',
      errors,
      perform: ({ actor, params }) => accept(actor, params),
    }),
    route.put(`${path}/owner`, {
      summary: `Hand a ${thing} over to another user`,
      body: requiredTextBody,
      done: 'Handed over.',
      perform: ({ actor, params, body }) => handOver(actor, params, parseUsername(body.trim())),
    }),
  ];
}
