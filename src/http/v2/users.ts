import Type from 'typebox';
import type { Actor } from '../../domain/actor.ts';
import { invalid } from '../../domain/errors.ts';
import { parseUserId, type Username } from '../../domain/ids.ts';
import { limits } from '../../domain/limits.ts';
import type { Accounts } from '../../domain/users/accounts.ts';
import type { User } from '../../domain/users/user.ts';
import {
  NewUserMessage,
  newAccountFromWire,
  UserChangesMessage,
  UserMessage,
  userChangesFromWire,
  userToWire,
} from '../../wire/user.ts';
import { isRecord } from '../../wire/validation.ts';
import { bare, done, json } from '../answer.ts';
import { type BareBody, bareJson } from '../body.ts';
import { pageHeaders } from '../paging.ts';
import { defineRoute, type Route } from '../route.ts';

const tag = 'Users';

const UsersQuery = Type.Object({
  limit: Type.Optional(Type.Integer({ minimum: 0, maximum: limits.usersPageMax, default: 100 })),
  offset: Type.Optional(Type.Integer({ minimum: 0, default: 0 })),
  username: Type.Optional(Type.String({ description: 'Only the user with this name.' })),
});

const PasswordMessage = Type.Union([
  Type.String({ description: `${limits.passwordCharactersMin} characters or more.` }),
  Type.Object({ password: Type.String() }),
]);

const oneUser = {
  status: 200,
  description: 'The user; contact details are shown to that user and to admins only.',
  content: { 'application/json': UserMessage },
} as const;

/** Accounts: sign up, read, change, delete. */
export function userRoutes(
  accounts: Accounts,
  webhookSecretOf: (username: Username) => string,
): readonly Route[] {
  const shown = (actor: Actor, user: User) => userToWire(user, accounts.maySeeContact(actor, user));

  return [
    defineRoute({
      method: 'POST',
      path: '/users',
      tag,
      summary: 'Sign up',
      body: { kind: 'json', schema: NewUserMessage },
      answer: {
        status: 200,
        description: 'The id of the new user.',
        content: { 'application/json': Type.String() },
      },
      errors: ['invalid', 'unauthenticated', 'forbidden', 'conflict'],
      handle: async ({ actor, body }) =>
        json((await accounts.signUp(actor, newAccountFromWire(body))).id),
    }),
    defineRoute({
      method: 'GET',
      path: '/users',
      tag,
      summary: 'List users in order of creation',
      query: UsersQuery,
      answer: {
        status: 200,
        description: 'Users; X-Total-Count has the number of all that match.',
        content: { 'application/json': Type.Array(UserMessage) },
      },
      errors: ['invalid', 'unauthenticated'],
      handle: async ({ actor, query, url }) => {
        const { limit = limits.usersPageDefault, offset = 0, username } = query;
        const name = username === undefined ? {} : { username };
        const { users, total } = await accounts.list({ ...name, limit, offset });
        const message = users.map((user) => shown(actor, user));
        return json(message, pageHeaders({ url, total, limit, offset }));
      },
    }),
    defineRoute({
      method: 'GET',
      path: '/users/me',
      tag,
      summary: 'Read your own account',
      answer: oneUser,
      errors: ['unauthenticated', 'forbidden'],
      handle: async ({ actor }) => json(shown(actor, await accounts.me(actor))),
    }),
    webhookSecretRoute(accounts, webhookSecretOf),
    defineRoute({
      method: 'PUT',
      path: '/users/me',
      tag,
      summary: 'Change your own profile',
      body: { kind: 'json', schema: UserChangesMessage },
      answer: { status: 204, description: 'Changed.' },
      errors: ['invalid', 'unauthenticated', 'forbidden'],
      handle: async ({ actor, body }) => {
        const { id } = await accounts.me(actor);
        await accounts.update(actor, id, userChangesFromWire(body));
        return done;
      },
    }),
    defineRoute({
      method: 'GET',
      path: '/users/:user_id',
      tag,
      summary: 'Read a user',
      answer: oneUser,
      errors: ['invalid', 'unauthenticated', 'not_found'],
      handle: async ({ actor, params }) =>
        json(shown(actor, await accounts.get(parseUserId(params['user_id'])))),
    }),
    ...userChangeRoutes(accounts),
  ];
}

function webhookSecretRoute(
  accounts: Accounts,
  webhookSecretOf: (username: Username) => string,
): Route {
  return defineRoute({
    method: 'GET',
    path: '/users/me/webhook_secret',
    tag,
    summary: 'Read what messages to your webhook are signed with',
    answer: {
      status: 200,
      description: 'The key of the HMAC-SHA256 in the header Kipimo-Signature.',
      content: { 'text/plain': Type.String() },
    },
    errors: ['unauthenticated', 'forbidden'],
    handle: async ({ actor }) => bare(webhookSecretOf((await accounts.me(actor)).username)),
  });
}

function userChangeRoutes(accounts: Accounts): readonly Route[] {
  return [
    defineRoute({
      method: 'PUT',
      path: '/users/:user_id',
      tag,
      summary: 'Change a profile: your own, or as an admin anybody’s',
      body: { kind: 'json', schema: UserChangesMessage },
      answer: { status: 204, description: 'Changed.' },
      errors: ['invalid', 'unauthenticated', 'forbidden', 'not_found'],
      handle: async ({ actor, params, body }) => {
        const id = parseUserId(params['user_id']);
        await accounts.update(actor, id, userChangesFromWire(body));
        return done;
      },
    }),
    defineRoute({
      method: 'PUT',
      path: '/users/:user_id/password',
      tag,
      summary: 'Set a new password; all tokens of the user end',
      body: { kind: 'bare', schema: PasswordMessage },
      answer: { status: 204, description: 'Set.' },
      errors: ['invalid', 'unauthenticated', 'forbidden', 'not_found'],
      handle: async ({ actor, params, body }) => {
        const id = parseUserId(params['user_id']);
        await accounts.setPassword(actor, id, readPassword(body));
        return done;
      },
    }),
    defineRoute({
      method: 'PUT',
      path: '/users/:user_id/sms_credit',
      tag,
      summary: 'Set how many deliveries by sms or voice a user has left (admin)',
      body: {
        kind: 'bare',
        schema: Type.Union([Type.Integer({ minimum: 0 }), Type.Literal('unlimited')]),
      },
      answer: { status: 204, description: 'Set.' },
      errors: ['invalid', 'unauthenticated', 'forbidden', 'not_found'],
      handle: async ({ actor, params, body }) => {
        const id = parseUserId(params['user_id']);
        await accounts.update(actor, id, { smsCredit: readSmsCredit(body) });
        return done;
      },
    }),
    defineRoute({
      method: 'DELETE',
      path: '/users/:user_id',
      tag,
      summary: 'Delete an account with its devices, keys and grants',
      answer: { status: 204, description: 'Deleted.' },
      errors: ['invalid', 'unauthenticated', 'forbidden', 'not_found'],
      handle: async ({ actor, params }) => {
        await accounts.remove(actor, parseUserId(params['user_id']));
        return done;
      },
    }),
  ];
}

function readPassword(body: BareBody): string {
  if (!body.isJson) return body.text;
  const value = bareJson(body);
  const password = isRecord(value) ? value['password'] : value;
  if (typeof password !== 'string') throw invalid('send {"password": "…"} or the bare password');
  return password;
}

function readSmsCredit(body: BareBody): number | 'unlimited' {
  const value = bareJson(body);
  if (value === null || value === 'unlimited') return 'unlimited';
  if (typeof value === 'number' && Number.isSafeInteger(value) && value >= 0) return value;
  throw invalid('sms_credit must be a whole number from 0, or unlimited');
}
