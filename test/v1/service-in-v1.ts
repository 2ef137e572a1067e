import assert from 'node:assert/strict';
import type { Call, Reply, Service } from '../service.ts';

/** Sends to a path below /api/v1, in the words of version 1 as they are written. */
export type V1Door = (call: Call) => Promise<Reply>;

/** The API of version 1, for tests that write its words themselves. */
export const v1Door =
  (service: Service): V1Door =>
  (call) =>
    service.call({ ...call, path: `//api/v1${call.path}` });

/** Asserts 200 without a body: every create, PUT, DELETE and push of version 1 [contract 2]. */
export function assertEmpty(reply: Reply): void {
  assert.equal(reply.status, 200, reply.text.slice(0, 200));
  assert.equal(reply.text, '');
  assert.equal(reply.headers.get('content-length'), '0');
}
