import assert from 'node:assert/strict';
import { test } from 'node:test';
import Type from 'typebox';
import { DomainError, invalid } from '../domain/errors.ts';
import { createReader } from '../wire/validation.ts';
import { bare, done, json, list } from './answer.ts';
import { defineRoute, type RouteRequest } from './route.ts';
import { jsonBody } from './route-body.ts';

const about = { method: 'POST', path: '/x', tag: 'X', summary: 'x', errors: [] } as const;
const Message = Type.Object({ id: Type.String(), name: Type.Optional(Type.String()) });
const one = {
  status: 200,
  description: 'One.',
  content: { 'application/json': Message },
} as const;
const many = { ...one, content: { 'application/json': Type.Array(Message) } } as const;
const nothing = { status: 204, description: 'Done.' } as const;

async function* steps<Item>(item: Item) {
  yield [item];
}

test('a handler answers what its route documents, or does not compile', () => {
  const routes = [
    defineRoute({ ...about, answer: one, handle: () => json({ id: '1' }) }),
    defineRoute({ ...about, answer: many, handle: async () => json([{ id: '1', name: 'x' }]) }),
    defineRoute({ ...about, answer: many, handle: () => list(steps({ id: '1' })) }),
    defineRoute({ ...about, answer: nothing, handle: () => done }),
    // @ts-expect-error: a field is missing.
    defineRoute({ ...about, answer: one, handle: () => json({ name: 'x' }) }),
    // @ts-expect-error: a field has another type.
    defineRoute({ ...about, answer: one, handle: async () => json({ id: 1 }) }),
    // @ts-expect-error: one instead of many.
    defineRoute({ ...about, answer: many, handle: () => json({ id: '1' }) }),
    // @ts-expect-error: many of another shape, step by step.
    defineRoute({ ...about, answer: many, handle: () => list(steps({ id: 1 })) }),
    // @ts-expect-error: a bare text instead of a message.
    defineRoute({ ...about, answer: one, handle: () => bare('1') }),
    // @ts-expect-error: no answer where one is documented.
    defineRoute({ ...about, answer: one, handle: () => done }),
    // @ts-expect-error: an answer where none is documented.
    defineRoute({ ...about, answer: nothing, handle: () => json({ id: '1' }) }),
  ];
  assert.equal(routes.length, 11);
});

test('a body carries its reader, whose value and refusals are the handler’s', async () => {
  const ids: string[] = [];
  const route = defineRoute({
    ...about,
    body: jsonBody(Message, createReader(Message, 'thing')),
    answer: nothing,
    handle: ({ body }) => {
      ids.push(body.id);
      return done;
    },
  });
  const send = async (body: unknown) => route.handle({ body } as RouteRequest);
  assert.equal(await send({ id: '1', name: null }), done);
  assert.deepEqual(ids, ['1']);
  await assert.rejects(send({ name: 'x' }), invalid('thing must have the field id'));
  await assert.rejects(send([]), DomainError);
});
