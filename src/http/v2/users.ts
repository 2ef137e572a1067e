import Type, { type Static } from 'typebox';
import type { Actor } from '../../domain/actor.ts';
import { invalid } from '../../domain/errors.ts';
import { parseUserId, type UserId } from '../../domain/ids.ts';
import { limits } from '../../domain/limits.ts';
import type { ListPart } from '../../domain/listing.ts';
import type { User } from '../../domain/users/user.ts';
import { goneSignal } from '../../lib/connection-guard.ts';
import { defined, ifDefined, isRecord } from '../../lib/record.ts';
import { readInstant } from '../../wire/datapoint.ts';
import { Flag, OneOf, Plain } from '../../wire/fields.ts';
import {
  ImportedUsersMessage,
  InitialPasswordMessage,
  NewUserMessage,
  newAccountFromWire,
  UserChangesMessage,
  UserMessage,
  userChangesFromWire,
  userToWire,
  useToWire,
} from '../../wire/user.ts';
import { accountsFromCsv } from '../../wire/user-csv.ts';
import { createReader } from '../../wire/validation.ts';
import { bare, json, unkept } from '../answer.ts';
import { bearerSecret } from '../authentication.ts';
import { type BareBody, bareBody, bareJson, csvBody, jsonBody, messageBody } from '../body.ts';
import { refusalBody } from '../errors.ts';
import { bareTextAnswer, messageAnswer, type Route, routesOf } from '../route.ts';
import { listed, pageQuery } from './lists.ts';
import type { Services } from './services.ts';

const route = routesOf('Users');

const UsersQuery = Type.Object({
  ...pageQuery({ max: limits.usersPageMax, usual: limits.usersPageDefault }),
  username: Type.Optional(Plain('Only the user with this name.')),
  text: Type.Optional(
    Type.String({
      maxLength: limits.nameCharactersMax,
      description:
        'Only users with all these words in username, names, address or phone numbers (admin).',
    }),
  ),
  role: Type.Optional(OneOf(['admin', 'user'], 'Only administrators, or only others (admin).')),
  disabled: Type.Optional(Flag('Only those who are locked out, or are not (admin).')),
  logged_in: Type.Optional(Flag('Only those who have logged in ever, or never (admin).')),
  inactive_since: Type.Optional(
    Type.String({
      format: 'date-time',
      description: 'Only accounts older than this that nobody logged in to from then on (admin).',
    }),
  ),
});

const PasswordMessage = Type.Union([
  Plain(`${limits.passwordCharactersMin} characters or more.`),
  Type.Object({
    password: Plain(`${limits.passwordCharactersMin} characters or more.`),
    old_password: Type.Optional(Plain('The present one, when one changes one’s own.')),
  }),
]);

const AddressMessage = Type.Object({
  channel: Type.String({ description: 'email, phone, sms or voice.', examples: ['email'] }),
  address: Type.String({
    maxLength: limits.nameCharactersMax,
    description: 'As it is in the profile.',
    examples: ['ama@example.org'],
  }),
});

const CodeMessage = Type.Object({
  ...AddressMessage.properties,
  code: Type.String({ maxLength: 64, description: 'As it was sent.', examples: ['7KQ2-M9XD'] }),
});

const oneUser = messageAnswer(
  'The user; contact details are shown to that user and admins only.',
  UserMessage,
);

/** Accounts: sign up, read, change, delete. */
export function userRoutes(services: Services): readonly Route[] {
  const { accounts, room, webhookSecretOf } = services;
  return [
    signUpRoute(services),
    importRoute(services),
    listRoute(services),
    route.get('/users/me', {
      summary: 'Read your own account',
      answer: oneUser,
      handle: async ({ actor }) => {
        const user = await accounts.me(actor);
        return json({ ...shownTo(accounts, actor, user), storage: room.useOf(user.username) });
      },
    }),
    route.get('/users/me/webhook_secret', {
      summary: 'Read what messages to your webhook are signed with',
      answer: bareTextAnswer('The key of the HMAC-SHA256 in the header Kipimo-Signature.'),
      handle: async ({ actor }) => bare(webhookSecretOf(await accounts.me(actor))),
    }),
    route.put('/users/me', {
      summary: 'Change your own profile',
      body: jsonBody(UserChangesMessage, userChangesFromWire),
      done: 'Changed.',
      perform: async ({ actor, body }) =>
        accounts.update(actor, (await accounts.me(actor)).id, body),
    }),
    route.get('/users/:user_id', {
      summary: 'Read a user',
      answer: oneUser,
      errors: ['invalid', 'unauthenticated', 'not_found'],
      handle: async ({ actor, params }) => {
        const user = await accounts.get(parseUserId(params['user_id']));
        const [devices] = await accounts.devicesOf(actor, [user]);
        return json(shownTo(accounts, actor, user, devices));
      },
    }),
    ...userChangeRoutes(services),
    ...addressRoutes(services),
  ];
}

/** An account as the actor may see it. */
function shownTo(accounts: Services['accounts'], actor: Actor, user: User, devices?: number) {
  const shown = userToWire(user, accounts.maySeeContact(actor, user));
  return { ...shown, ...ifDefined(devices, (devices) => useToWire(user, devices)) };
}

function listRoute({ accounts }: Services): Route {
  return route.get('/users', {
    summary: 'List users in order of creation',
    query: UsersQuery,
    answer: messageAnswer(
      'Users; X-Total-Count has the number of all that match.',
      Type.Array(UserMessage),
    ),
    handle: async ({ actor, query, url }) => {
      const { username } = query;
      const found = await searched(accounts, actor, query);
      const read = async (page: ListPart) => {
        const { users, total } = await (found === undefined
          ? accounts.list(defined({ username, ...page }))
          : accounts.some(found, page));
        const devices = await accounts.devicesOf(actor, users);
        return {
          users: users.map((user, at) => shownTo(accounts, actor, user, devices[at])),
          total,
        };
      };
      return listed({ url, query }, limits.usersPageDefault, 'users', read, (user) => user);
    },
  });
}

/** The accounts that the query finds, where it says more than a page and a username. */
function searched(
  accounts: Services['accounts'],
  actor: Actor,
  query: Static<typeof UsersQuery>,
): Promise<readonly UserId[]> | undefined {
  const { username, text, role, disabled, logged_in: hasLoggedIn, inactive_since: since } = query;
  const filter = defined({
    username,
    text,
    role,
    isDisabled: disabled,
    hasLoggedIn,
    inactiveSince: ifDefined(since, (since) => readInstant(since, 'inactive_since')),
  });
  const isSearch = Object.keys(filter).some((field) => field !== 'username');
  return isSearch ? accounts.search(actor, filter) : undefined;
}

function signUpRoute({ accounts }: Services): Route {
  return route.post('/users', {
    summary: 'Sign up',
    body: jsonBody(NewUserMessage, newAccountFromWire),
    answer: messageAnswer('The id of the new user.', Type.String()),
    errors: ['invalid', 'unauthenticated', 'forbidden', 'conflict', 'rate_limited'],
    handle: async ({ actor, body, address, raw }) => {
      const client = { address, signal: goneSignal(raw.socket) };
      return json((await accounts.signUp(actor, body, client)).id);
    },
  });
}

function importRoute({ importAccounts }: Services): Route {
  return route.post('/users/import', {
    summary: 'Make accounts of a CSV list, one in each row (admin)',
    body: csvBody(
      Type.String({
        description:
          'A first line with username and any of name, firstName, lastName, email, phone, group ' +
          'and password; a row for each account.',
        examples: ['username,name,group\nfatou.diop,Fatou Diop,Class 4B\n'],
      }),
      // Read once it is known that an administrator asks.
      (bytes) => () => accountsFromCsv(bytes),
      { contentType: 'text/csv' },
    ),
    answer: messageAnswer(
      'Each row in order: an account made, with its password where none was given, or why not.',
      ImportedUsersMessage,
    ),
    handle: async ({ actor, body, raw }) => {
      const made = await importAccounts(actor, body, goneSignal(raw.socket));
      return json(
        made.map(({ refusal, profile: { firstName, lastName } = {}, ...row }) =>
          defined({ ...row, firstName, lastName, ...(refusal && refusalBody(refusal)) }),
        ),
        unkept,
      );
    },
  });
}

function userChangeRoutes({ accounts, sessions }: Services): readonly Route[] {
  /** The user that a path names: `me` is the caller, as in `/users/me`. */
  const idOf = async (actor: Actor, text: string | undefined): Promise<UserId> =>
    text === 'me' ? (await accounts.me(actor)).id : parseUserId(text);

  return [
    route.put('/users/:user_id', {
      summary: 'Change a profile: your own, or as an admin anybody’s',
      body: jsonBody(UserChangesMessage, userChangesFromWire),
      done: 'Changed.',
      perform: async ({ actor, params, body }) =>
        accounts.update(actor, await idOf(actor, params['user_id']), body),
    }),
    route.put('/users/:user_id/password', {
      summary:
        'Set a new password; all tokens of the user end. One’s own needs old_password; an ' +
        'administrator sets those of others without',
      body: bareBody(PasswordMessage, readPassword),
      done: 'Set.',
      perform: async ({ actor, params, body, address, authorization }) => {
        const id = await idOf(actor, params['user_id']);
        const secret = bearerSecret(authorization);
        const exceptSession = secret && (await sessions.sessionOf(secret));
        await accounts.setPassword(actor, id, defined({ ...body, address, exceptSession }));
      },
    }),
    route.post('/users/:user_id/initial_password', {
      summary:
        'Give somebody a made-up password, to be changed at the next login; tokens end (admin)',
      answer: messageAnswer('The password, which is shown this once.', InitialPasswordMessage),
      errors: ['invalid', 'unauthenticated', 'forbidden', 'not_found', 'rate_limited'],
      handle: async ({ actor, params }) => {
        const id = parseUserId(params['user_id']);
        const { user, password } = await accounts.setInitialPassword(actor, id);
        return json({ username: user.username, password }, unkept);
      },
    }),
    route.put('/users/:user_id/sms_credit', {
      summary: 'Set how many deliveries by sms or voice a user has left (admin)',
      body: bareBody(
        Type.Union([Type.Integer({ minimum: 0 }), Type.Literal('unlimited')]),
        readSmsCredit,
      ),
      done: 'Set.',
      perform: async ({ actor, params, body: smsCredit }) =>
        accounts.update(actor, await idOf(actor, params['user_id']), { smsCredit }),
    }),
    route.delete('/users/:user_id', {
      summary: 'Delete an account with its devices, keys and grants',
      done: 'Deleted.',
      perform: async ({ actor, params }) =>
        accounts.remove(actor, await idOf(actor, params['user_id'])),
    }),
  ];
}

function readPassword(body: BareBody): { password: string; oldPassword?: string } {
  if (!body.isJson) return { password: body.text };
  const value = bareJson(body);
  const fields = isRecord(value) ? value : { password: value };
  const { password, old_password: oldPassword } = fields;
  if (typeof password !== 'string') {
    throw invalid('send {"password": "…", "old_password": "…"}, or the bare new password');
  }
  if (oldPassword === undefined || oldPassword === null) return { password };
  if (typeof oldPassword !== 'string') throw invalid('old_password must be a string');
  if (oldPassword.length > limits.passwordCharactersMax) return { password, oldPassword: '' };
  return { password, oldPassword };
}

function readSmsCredit(body: BareBody): number | 'unlimited' {
  const value = bareJson(body);
  if (value === null || value === 'unlimited') return 'unlimited';
  if (typeof value === 'number' && Number.isSafeInteger(value) && value >= 0) return value;
  throw invalid('sms_credit must be a whole number from 0, or unlimited');
}

/** Proving that an e-mail address or phone number reaches its user [contract 14]. */
function addressRoutes({ addressProving: proving }: Services): readonly Route[] {
  return [
    route.post('/users/me/addresses/prove', {
      summary: 'Have a code sent to an e-mail address or phone number of your profile',
      body: messageBody(createReader(AddressMessage, 'address')),
      done: 'A code was sent, or the address is proven already.',
      perform: ({ actor, body, address, headers }) =>
        proving.request(actor, body, { address, languages: headers['accept-language'] }),
    }),
    route.post('/users/me/addresses/confirm', {
      summary: 'Prove the address with the code that was sent to it',
      body: messageBody(createReader(CodeMessage, 'code')),
      done: 'The address is proven.',
      perform: ({ actor, body }) => proving.confirm(actor, body),
    }),
  ];
}
