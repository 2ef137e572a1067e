import { parseSocialId, type SocialId } from '../../domain/ids.ts';
import { limits } from '../../domain/limits.ts';
import { readSocial, readSocialBatch, SocialMessage, socialToWire } from '../../wire/social.ts';
import { bare, json } from '../answer.ts';
import { messageBody } from '../body.ts';
import { bareTextAnswer, messageAnswer, type Params, type Route, routesOf } from '../route.ts';
import { listRoute } from './lists.ts';
import type { Services } from './services.ts';

const route = routesOf('Social messages');

/** Social messages: send one or many, list, read, delete. */
export function socialRoutes({ socials }: Services): readonly Route[] {
  return [
    route.post('/socials', {
      summary: 'Send a message to a user',
      body: messageBody(readSocial),
      answer: bareTextAnswer('The id of the new message; reading it tells how far it came.'),
      errors: ['invalid', 'unauthenticated', 'forbidden', 'not_found'],
      handle: async ({ actor, body }) => {
        const [id = ''] = await socials.send(actor, body);
        return bare(id);
      },
    }),
    route.post('/socials/batch', {
      summary: 'Send a message to many users on many channels, to all or to none',
      body: messageBody(readSocialBatch),
      done: 'Filed: one message for each user on each channel.',
      errors: ['invalid', 'unauthenticated', 'forbidden', 'not_found'],
      perform: ({ actor, body }) => socials.send(actor, body),
    }),
    listRoute(route, '/socials', {
      summary: 'List the messages that you sent or received, newest last; all for an admin',
      said: 'Messages; X-Total-Count has the number of all that you may see.',
      schema: SocialMessage,
      page: { max: limits.socialsPageMax, usual: limits.socialsPageDefault },
      name: 'socials',
      read: ({ actor }, page) => socials.list(actor, page),
      toWire: socialToWire,
    }),
    route.get('/socials/:social_id', {
      summary: 'Read a message that you sent or received',
      answer: messageAnswer('The message.', SocialMessage),
      handle: async ({ actor, params }) =>
        json(socialToWire(await socials.get(actor, socialIdOf(params)))),
    }),
    route.delete('/socials/:social_id', {
      summary: 'Delete a message that you sent',
      answer: { status: 200, description: 'Deleted; the answer has no body.' },
      handle: async ({ actor, params }) => {
        await socials.remove(actor, socialIdOf(params));
        // 200, unlike every other DELETE [contract 2].
        return { kind: 'empty', status: 200 };
      },
    }),
  ];
}

const socialIdOf = (params: Params): SocialId => parseSocialId(params['social_id']);
