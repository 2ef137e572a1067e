import assert from 'node:assert/strict';
import type { Reply } from '../service.ts';

/** The code in the body beside each status of the table [contract 2]. */
const codeOf: Readonly<Record<number, string>> = {
  400: 'invalid',
  401: 'unauthenticated',
  403: 'forbidden',
  404: 'not_found',
  405: 'method_not_allowed',
  413: 'too_large',
  415: 'unsupported_media_type',
  409: 'blocked',
  410: 'gone',
  422: 'conflict',
  429: 'rate_limited',
  503: 'unavailable',
  507: 'storage_full',
};

/** Asserts a refusal with this status, in the form of [contract 2]: JSON with a sentence. */
export function assertRefused(
  reply: Reply,
  status: number,
  options: { readonly saying?: RegExp; readonly of?: string } = {},
): void {
  const about = `${options.of ?? ''} answered ${reply.status} ${reply.text.slice(0, 200)}`;
  assert.equal(reply.status, status, about);
  assert.match(reply.headers.get('content-type') ?? '', /^application\/json/, about);
  const { error, description, code, params, ...others } = reply.json as Record<string, unknown>;
  // Clients of this endpoint look for the sentence elsewhere: it is there a second time.
  const isTwice = options.of?.startsWith('POST /write ') === true;
  assert.deepEqual(others, isTwice ? { message: description } : {}, about);
  const shape = [typeof code, typeof params];
  assert.deepEqual(shape, ['string', isTwice ? 'undefined' : 'object'], about);
  assert.equal(error, codeOf[status], about);
  assert.ok(typeof description === 'string' && /\w \w/.test(description), about);
  assert.doesNotMatch(description, /\n|\bat \w+ \(|node_modules|\.ts:\d/, about);
  if (options.saying !== undefined) assert.match(description, options.saying, about);
}

/** Asserts 204 without a body: every create, PUT, DELETE and push [contract 2]. */
export function assertDone(reply: Reply, of = ''): void {
  assert.equal(reply.status, 204, `${of} answered ${reply.status} ${reply.text.slice(0, 200)}`);
  assert.equal(reply.text, '');
}
