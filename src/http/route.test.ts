import assert from 'node:assert/strict';
import { test } from 'node:test';
import Type from 'typebox';
import { DomainError, invalid } from '../domain/errors.ts';
import { currentPayer, keepPayers } from '../lib/paid-work.ts';
import { createFairSlices, createGuestSlices } from '../lib/scheduling/fair-slices.ts';
import { createReader } from '../wire/validation.ts';
import { bare, done, json, list } from './answer.ts';
import { jsonBody } from './body.ts';
import {
  type AnswerTo,
  bareTextAnswer,
  createResponder,
  defineRoute,
  type Edge,
  type ReceivedRequest,
  type RouteAnswer,
  type RouteRequest,
} from './route.ts';

keepPayers();

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

/** Whether a handler may answer this: 1 or 0, as the compiler judges. */
type Takes<Documented extends RouteAnswer, Given> = Given extends AnswerTo<Documented> ? 1 : 0;

test('a handler answers what its route documents, or does not compile', () => {
  const [message, messages] = [json({ id: '1' }), list(steps({ id: '1', name: 'x' }))];
  const [missing, wrong, text] = [json({ name: 'x' }), list(steps({ id: 1 })), bare('1')];
  const taken: readonly [
    Takes<typeof one, typeof message>,
    Takes<typeof many, typeof messages>,
    Takes<typeof nothing, typeof done>,
  ] = [1, 1, 1];
  const refused: readonly [
    Takes<typeof one, typeof missing>,
    Takes<typeof many, typeof wrong>,
    Takes<typeof many, typeof message>,
    Takes<typeof one, typeof text>,
    Takes<typeof one, typeof done>,
    Takes<typeof nothing, typeof message>,
  ] = [0, 0, 0, 0, 0, 0];
  assert.equal(taken.length + refused.length, 9);
});

test('a body carries its reader, whose value and refusals are the handler’s', async () => {
  const ids: string[] = [];
  const route = defineRoute({
    ...about,
    body: jsonBody(Message, createReader(Message, 'thing')),
    answer: nothing,
    handle: async ({ body }) => {
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

const sliceMs = 1;
const guest = { kind: 'guest', address: '10.0.0.1' } as const;
/** The part of an edge that a responder asks. */
const edgeFor = (turnMs: number) =>
  ({
    authenticate: async () => guest,
    clients: { of: () => ({ guest, address: guest.address }) },
    room: { askedBy: () => undefined },
    turns: createFairSlices({ turnMs }),
    guestTurns: createGuestSlices(turnMs),
  }) as unknown as Edge;
/** A request without a query and a body. */
const received = {
  ...{ headers: {}, params: {}, url: '/x' },
  raw: { socket: {} },
} as unknown as ReceivedRequest;

test('a read is paid for by who asks, and what others set off is the service’s', async () => {
  const payerOf = async (method: 'GET' | 'PUT') => {
    const route = defineRoute({
      ...{ ...about, method, answer: bareTextAnswer('Who pays.') },
      handle: async () => {
        await undefined;
        return bare(currentPayer() ?? 'the service');
      },
    });
    const answer = await createResponder(route, edgeFor(5))(received);
    return 'text' in answer ? answer.text : undefined;
  };
  assert.equal(await payerOf('GET'), 'address/10.0.0.1');
  assert.equal(await payerOf('PUT'), 'the service');
});

test('changes that come at once are handled in slices of the event loop', async () => {
  let handled = 0;
  const route = defineRoute({
    ...{ ...about, method: 'PUT', answer: nothing },
    handle: async () => {
      handled += 1;
      const startedAt = performance.now();
      while (performance.now() - startedAt < sliceMs);
      return done;
    },
  });
  const respond = createResponder(route, edgeFor(sliceMs));
  const answers = Promise.all([1, 2, 3].map(() => respond(received)));
  await new Promise((resolve) => setImmediate(resolve));
  assert.ok(handled < 3, `${handled} were handled in one slice`);
  assert.deepEqual(await answers, [done, done, done]);
});
