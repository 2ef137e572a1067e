import Type from 'typebox';
import { parseSocialId, type SocialId } from '../../domain/ids.ts';
import { limits } from '../../domain/limits.ts';
import type { Socials } from '../../domain/socials/socials.ts';
import {
  NewSocialMessage,
  SocialBatchMessage,
  SocialMessage,
  socialBatchFromWire,
  socialFromWire,
  socialToWire,
} from '../../wire/social.ts';
import { bare, done, json } from '../answer.ts';
import { bareContent, defineRoute, type Route } from '../route.ts';
import { jsonBody } from '../route-body.ts';
import { listed } from './listed.ts';

const tag = 'Social messages';

const SocialsQuery = Type.Object({
  limit: Type.Optional(Type.Integer({ minimum: 0, maximum: limits.socialsPageMax, default: 20 })),
  offset: Type.Optional(Type.Integer({ minimum: 0, default: 0 })),
});

/** Social messages: send one or many, list, read, delete. */
export function socialRoutes(socials: Socials): readonly Route[] {
  return [
    defineRoute({
      method: 'POST',
      path: '/socials',
      tag,
      summary: 'Send a message to a user',
      body: jsonBody(NewSocialMessage, socialFromWire),
      answer: {
        status: 200,
        description: 'The id of the new message; reading it tells how far it came.',
        content: bareContent,
      },
      errors: ['invalid', 'unauthenticated', 'forbidden', 'not_found', 'unavailable'],
      handle: async ({ actor, body }) => {
        const [id = ''] = await socials.send(actor, body);
        return bare(id);
      },
    }),
    defineRoute({
      method: 'POST',
      path: '/socials/batch',
      tag,
      summary: 'Send a message to many users on many channels, to all or to none',
      body: jsonBody(SocialBatchMessage, socialBatchFromWire),
      answer: { status: 204, description: 'Filed: one message for each user on each channel.' },
      errors: ['invalid', 'unauthenticated', 'forbidden', 'not_found', 'unavailable'],
      handle: async ({ actor, body }) => {
        await socials.send(actor, body);
        return done;
      },
    }),
    listRoute(socials),
    defineRoute({
      method: 'GET',
      path: '/socials/:social_id',
      tag,
      summary: 'Read a message that you sent or received',
      answer: {
        status: 200,
        description: 'The message.',
        content: { 'application/json': SocialMessage },
      },
      errors: ['invalid', 'unauthenticated', 'forbidden', 'not_found'],
      handle: async ({ actor, params }) =>
        json(socialToWire(await socials.get(actor, socialIdOf(params)))),
    }),
    defineRoute({
      method: 'DELETE',
      path: '/socials/:social_id',
      tag,
      summary: 'Delete a message that you sent',
      answer: { status: 200, description: 'Deleted; the answer has no body.' },
      errors: ['invalid', 'unauthenticated', 'forbidden', 'not_found'],
      handle: async ({ actor, params }) => {
        await socials.remove(actor, socialIdOf(params));
        // 200, unlike every other DELETE [contract 2].
        return { kind: 'empty', status: 200 };
      },
    }),
  ];
}

const socialIdOf = (params: Readonly<Record<string, string>>): SocialId =>
  parseSocialId(params['social_id']);

function listRoute(socials: Socials): Route {
  return defineRoute({
    method: 'GET',
    path: '/socials',
    tag,
    summary: 'List the messages that you sent or received, newest last; all for an admin',
    query: SocialsQuery,
    answer: {
      status: 200,
      description: 'Messages; X-Total-Count has the number of all that you may see.',
      content: { 'application/json': Type.Array(SocialMessage) },
    },
    errors: ['invalid', 'unauthenticated', 'forbidden'],
    handle: async ({ actor, query, url }) => {
      const { limit = limits.socialsPageDefault, offset = 0 } = query;
      return listed(
        { url, limit, offset },
        async (page) => {
          const { socials: items, total } = await socials.list(actor, page);
          return { items, total };
        },
        socialToWire,
      );
    },
  });
}
