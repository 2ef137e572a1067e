import Type from 'typebox';
import type { Actor } from '../../domain/actor.ts';
import { parseUsername, type Username } from '../../domain/ids.ts';
import { done } from '../answer.ts';
import type { BareBody } from '../body.ts';
import { defineRoute, type Route, type RouteBody } from '../route.ts';
import { requiredText } from './fields.ts';

type Params = Readonly<Record<string, string>>;

/** A field that a PUT of its bare value sets. */
export interface Field<Changes> {
  readonly name: string;
  readonly schema: RouteBody;
  readonly read: (body: BareBody) => Changes;
}

export const bareTextBody: RouteBody = { kind: 'bare', schema: Type.String() };

const errors = ['invalid', 'unauthenticated', 'forbidden', 'not_found'] as const;

/** One PUT for each field of a thing. */
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
    defineRoute({
      method: 'PUT',
      path: `${path}/${field.name}`,
      tag,
      summary: `Set the ${field.name} of ${thing}`,
      body: field.schema,
      answer: { status: 204, description: 'Set.' },
      errors,
      handle: async ({ actor, params, body }) => {
        await update(actor, params, field.read(body as BareBody));
        return done;
      },
    }),
  );
}

/** The PUT by which an owner gives a thing to somebody else. */
export function ownerRoute(options: {
  readonly path: string;
  readonly tag: string;
  readonly thing: string;
  readonly handOver: (actor: Actor, params: Params, owner: Username) => Promise<void>;
}): Route {
  const { path, tag, thing, handOver } = options;
  return defineRoute({
    method: 'PUT',
    path: `${path}/owner`,
    tag,
    summary: `Hand ${thing} over to another user`,
    body: bareTextBody,
    answer: { status: 204, description: 'Handed over.' },
    errors,
    handle: async ({ actor, params, body }) => {
      const owner = parseUsername(requiredText(body as BareBody).trim());
      await handOver(actor, params, owner);
      return done;
    },
  });
}
