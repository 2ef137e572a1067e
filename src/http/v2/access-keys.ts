import Type from 'typebox';
import { parseAccessKeyId } from '../../domain/ids.ts';
import type { AccessKeys } from '../../domain/users/access-keys.ts';
import {
  AccessKeyMessage,
  accessKeyFromWire,
  accessKeyToWire,
  CreatedAccessKeyMessage,
  NewAccessKeyMessage,
} from '../../wire/access-key.ts';
import { json } from '../answer.ts';
import { defineCommand, defineRoute, messageAnswer, type Route } from '../route.ts';
import { jsonBody } from '../route-body.ts';

const tag = 'Authentication';

/** Access keys, for gateways and devices that cannot renew a token every ten minutes. */
export function accessKeyRoutes(accessKeys: AccessKeys): readonly Route[] {
  return [
    defineRoute({
      method: 'POST',
      path: '/auth/keys',
      tag,
      summary: 'Create an access key, usable as bearer token and as MQTT password',
      body: jsonBody(NewAccessKeyMessage, accessKeyFromWire),
      answer: messageAnswer(
        'The key with its secret, which is shown this once.',
        CreatedAccessKeyMessage,
      ),
      errors: ['invalid', 'unauthenticated', 'forbidden'],
      handle: async ({ actor, body }) => {
        const { record, secret } = await accessKeys.create(actor, body);
        const headers = { 'cache-control': 'no-store' };
        return json({ ...accessKeyToWire(record), key: secret }, headers);
      },
    }),
    defineRoute({
      method: 'GET',
      path: '/auth/keys',
      tag,
      summary: 'List your access keys, without their secrets',
      answer: messageAnswer('In order of creation.', Type.Array(AccessKeyMessage)),
      errors: ['unauthenticated', 'forbidden'],
      handle: async ({ actor }) => json((await accessKeys.list(actor)).map(accessKeyToWire)),
    }),
    defineCommand({
      method: 'DELETE',
      path: '/auth/keys/:key_id',
      tag,
      summary: 'Revoke an access key',
      done: 'The key is no longer valid.',
      errors: ['unauthenticated', 'forbidden', 'not_found'],
      perform: ({ actor, params }) => accessKeys.remove(actor, parseAccessKeyId(params['key_id'])),
    }),
  ];
}
