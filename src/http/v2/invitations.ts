import Type from 'typebox';
import { parseInvitationId } from '../../domain/ids.ts';
import { invitationLimits } from '../../domain/sharing/invitation.ts';
import type { Invitations } from '../../domain/sharing/invitations.ts';
import {
  AcceptedInvitationMessage,
  CreatedInvitationMessage,
  createdInvitationToWire,
  InvitationMessage,
  invitationToWire,
  NewInvitationMessage,
  newInvitationFromWire,
  OfferedInvitationMessage,
  offeredInvitationToWire,
  targetToWire,
} from '../../wire/invitation.ts';
import { json } from '../answer.ts';
import { pageQuery } from '../paging.ts';
import { defineCommand, defineRoute, messageAnswer, type Route } from '../route.ts';
import { jsonBody } from '../route-body.ts';
import type { Site } from '../site.ts';
import { listed } from './listed.ts';

const tag = 'Sharing';
const max = 2 * invitationLimits.invitationsPerUserMax;
/** The answer to a link is for its reader alone, and may be outdated in a moment. */
const unkept = { 'cache-control': 'no-store' };

/** Links by which people join a device, a group or a project, with an account or not yet. */
export function invitationRoutes(invitations: Invitations, site: Site): readonly Route[] {
  return [
    defineRoute({
      method: 'POST',
      path: '/invitations',
      tag,
      summary: 'Make a link that lets people join devices, a group or a project of yours',
      body: jsonBody(NewInvitationMessage, newInvitationFromWire),
      answer: messageAnswer('The link, which is shown this once.', CreatedInvitationMessage),
      errors: ['invalid', 'unauthenticated', 'forbidden', 'not_found', 'limit_reached'],
      handle: async ({ actor, body, raw }) => {
        const { invitation, secret } = await invitations.create(actor, body);
        const url = `${site.originOf(raw)}/join/${secret}`;
        return json(createdInvitationToWire(invitation, url), unkept);
      },
    }),
    defineRoute({
      method: 'GET',
      path: '/invitations',
      tag,
      summary: 'List your invitations that were not revoked, the newest first',
      query: Type.Object(pageQuery({ max, usual: max })),
      answer: messageAnswer(
        'Invitations without their links; X-Total-Count has the number of all.',
        Type.Array(InvitationMessage),
      ),
      errors: ['invalid', 'unauthenticated', 'forbidden'],
      handle: async ({ actor, query, url }) => {
        const { limit = max, offset = 0 } = query;
        return listed(
          { url, limit, offset },
          'invitations',
          (page) => invitations.list(actor, page),
          invitationToWire,
        );
      },
    }),
    defineCommand({
      method: 'DELETE',
      path: '/invitations/:invitation_id',
      tag,
      summary: 'Revoke an invitation; who joined by it stays',
      done: 'The link is no longer valid.',
      errors: ['invalid', 'unauthenticated', 'forbidden', 'not_found'],
      perform: ({ actor, params }) =>
        invitations.revoke(actor, parseInvitationId(params['invitation_id'])),
    }),
    ...linkRoutes(invitations),
  ];
}

function linkRoutes(invitations: Invitations): readonly Route[] {
  const path = '/invitations/at/:token';
  return [
    defineRoute({
      method: 'GET',
      path,
      tag,
      summary: 'Read who invites, to what and until when; needs no login',
      answer: messageAnswer('The invitation.', OfferedInvitationMessage),
      errors: ['unauthenticated', 'not_found', 'gone'],
      handle: async ({ params }) =>
        json(offeredInvitationToWire(await invitations.at(params['token'] ?? '')), unkept),
    }),
    defineRoute({
      method: 'POST',
      path: `${path}/accept`,
      tag,
      summary: 'Join what an invitation leads to; twice by one account counts once',
      answer: messageAnswer('What you may do by it now.', AcceptedInvitationMessage),
      errors: ['invalid', 'unauthenticated', 'forbidden', 'not_found', 'gone'],
      handle: async ({ actor, params }) => {
        const granted = await invitations.accept(actor, params['token'] ?? '');
        return json({ granted: granted.map(targetToWire) });
      },
    }),
  ];
}
