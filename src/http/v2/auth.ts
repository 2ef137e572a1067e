import Type, { type Static } from 'typebox';
import type { ResourceKind } from '../../domain/access/scopes.ts';
import { payerOfAccount } from '../../domain/budgets/budget.ts';
import { unauthenticated } from '../../domain/errors.ts';
import { parseAccessKeyId } from '../../domain/ids.ts';
import { limits } from '../../domain/limits.ts';
import type { LoggedIn } from '../../domain/users/logins.ts';
import { countFor, goneSignal } from '../../lib/connection-guard.ts';
import { defined } from '../../lib/record.ts';
import { mapSteps } from '../../lib/steps.ts';
import {
  AccessKeyMessage,
  accessKeyToWire,
  BrowserSessionMessage,
  browserSessionToWire,
  CreatedAccessKeyMessage,
  readAccessKey,
} from '../../wire/credentials.ts';
import { Flag } from '../../wire/fields.ts';
import { PermissionMessage } from '../../wire/sharing.ts';
import { createReader } from '../../wire/validation.ts';
import { bare, done, json, list, unkept } from '../answer.ts';
import { basicCredentials, bearerSecret } from '../authentication.ts';
import { messageBody } from '../body.ts';
import {
  bareTextAnswer,
  messageAnswer,
  type Route,
  type RouteRequest,
  routesOf,
} from '../route.ts';
import { createLoginCookies } from '../site.ts';
import type { RouteParts, Services } from './services.ts';

const route = routesOf('Authentication');

const LoginMessage = Type.Object({
  username: Type.String({ description: 'Username or e-mail address.', examples: ['ama'] }),
  password: Type.String({ maxLength: limits.passwordCharactersMax }),
  remember: Type.Optional(Flag('Stay logged in: sets the cookie that renews the token.')),
});

const FirstLoginMessage = Type.Object({
  secret: Type.String({ maxLength: 64, description: 'What the link has behind its #.' }),
  password: Type.Optional(
    Type.String({
      maxLength: limits.passwordCharactersMax,
      description: 'The new password; absent: it stays as it is.',
    }),
  ),
  remember: LoginMessage.properties.remember,
});

const ResetMessage = Type.Object({ username: LoginMessage.properties.username });

const NewPasswordMessage = Type.Object({
  username: LoginMessage.properties.username,
  password: LoginMessage.properties.password,
  code: Type.String({ maxLength: 64, description: 'As the mail has it.', examples: ['7KQ2-M9XD'] }),
});

const tokenAnswer = bareTextAnswer(
  'Opaque text; a JSON string when Accept names application/json.',
);

/** Logging in and out, and what one may do. */
export function authRoutes(parts: RouteParts): readonly Route[] {
  const { sessions, tokenLifeSeconds } = parts;
  const cookies = createLoginCookies(parts.site);
  const { token, tokenOf } = createTokenAnswers(parts, cookies);

  async function renew({ authorization, address, raw }: RouteRequest) {
    const cookie = bearerSecret(authorization) === undefined ? cookies.sessionOf(raw) : undefined;
    if (cookie === undefined) {
      const fresh = await sessions.renew(requireSecret(authorization), tokenLifeSeconds);
      return bare(fresh, unkept);
    }
    const renewed = await sessions.renewByCookie(cookie, address, tokenLifeSeconds);
    const set = renewed.cookie === undefined ? [] : cookies.session(raw, renewed.cookie);
    return bare(renewed.token, unkept, set);
  }

  return [
    route.post('/auth/token', {
      summary: 'Get a token for a username (or e-mail address) and a password',
      isLogin: true,
      body: messageBody(createReader(LoginMessage, 'login')),
      answer: tokenAnswer,
      errors: ['invalid', 'unauthenticated', 'rate_limited'],
      handle: (request) => token(request.body, request),
    }),
    route.get('/auth/token', {
      summary: 'Get a token with HTTP Basic credentials',
      isLogin: true,
      answer: tokenAnswer,
      errors: ['unauthenticated', 'rate_limited'],
      handle: async (request) => {
        const login = basicCredentials(request.authorization);
        if (login !== undefined) return token(login, request);
        throw unauthenticated('send username and password as HTTP Basic, or as JSON with POST');
      },
    }),
    route.delete('/auth/token', {
      summary: 'End the token this request carries, and the browser login that it came from',
      answer: { status: 204, description: 'The token is no longer valid.' },
      handle: async ({ authorization, raw }) => {
        const hadSession = await sessions.end(requireSecret(authorization));
        return hadSession ? { ...done, cookies: cookies.endOfSession(raw) } : done;
      },
    }),
    route.post('/auth/renew', {
      summary:
        'Get a fresh token for a valid one, until 30 days after the login; or for the cookie of ' +
        'a browser that stays logged in, from pages of this service',
      answer: tokenAnswer,
      handle: renew,
    }),
    firstLoginRoute(parts, tokenOf),
    ...passwordResetRoutes(parts),
    ...(['device', 'gateway', 'project'] as const).map((kind) => permissionsRoute(parts, kind)),
    ...browserSessionRoutes(parts),
    ...accessKeyRoutes(parts),
  ];
}

/** How a login is answered: with a token, and with cookies for a browser that may have them. */
function createTokenAnswers(
  { logins, sessions, site, tokenLifeSeconds }: RouteParts,
  cookies: ReturnType<typeof createLoginCookies>,
) {
  async function token(
    { username, password, remember }: Static<typeof LoginMessage>,
    request: RouteRequest,
  ) {
    const { address, raw } = request;
    const signal = goneSignal(raw.socket);
    const deviceCookie = cookies.deviceOf(raw);
    const loggedIn = await logins.logIn(
      defined({ username, password, address, signal, deviceCookie }),
    );
    return tokenOf(loggedIn, remember, request);
  }

  async function tokenOf(
    loggedIn: LoggedIn,
    remember: boolean | undefined,
    { address, raw }: RouteRequest,
  ) {
    countFor(raw.socket, payerOfAccount(loggedIn.user.id));
    const set = site.isOwnPage(raw)
      ? cookies.device(raw, logins.deviceCookieOf(loggedIn.user))
      : [];
    if (remember !== true || site.isForeignPage(raw)) {
      return bare(await sessions.open(loggedIn, tokenLifeSeconds), unkept, set);
    }
    const browser = { name: browserNameOf(raw.headers['user-agent']), address };
    const opened = await sessions.remember(loggedIn, browser, tokenLifeSeconds);
    return bare(opened.token, unkept, [...set, ...cookies.session(raw, opened.cookie)]);
  }

  return { token, tokenOf };
}

function firstLoginRoute(
  { firstLogin }: Services,
  tokenOf: ReturnType<typeof createTokenAnswers>['tokenOf'],
): Route {
  return route.post('/auth/first', {
    summary: 'Get a token with the one-time link that the first start prints, and set a password',
    isLogin: true,
    body: messageBody(createReader(FirstLoginMessage, 'first login')),
    answer: tokenAnswer,
    errors: ['invalid', 'unauthenticated', 'rate_limited'],
    handle: async (request) => {
      const { remember, ...answer } = request.body;
      const loggedIn = await firstLogin.logIn({ ...answer, address: request.address });
      return tokenOf(loggedIn, remember, request);
    },
  });
}

function passwordResetRoutes({ passwordResets: resets }: Services): readonly Route[] {
  return [
    route.post('/auth/reset', {
      summary: 'Have a code for a new password sent to the e-mail address of an account',
      isLogin: true,
      body: messageBody(createReader(ResetMessage, 'reset')),
      done: 'A code was sent, if there is such an account.',
      errors: ['invalid', 'rate_limited'],
      perform: ({ body, address, headers }) =>
        resets.request({ login: body.username, address, languages: headers['accept-language'] }),
    }),
    route.post('/auth/reset/confirm', {
      summary: 'Set a new password with the code from the mail; it ends all tokens',
      isLogin: true,
      body: messageBody(createReader(NewPasswordMessage, 'new password')),
      done: 'The new password is set.',
      errors: ['invalid', 'unauthenticated', 'rate_limited'],
      perform: ({ body: { username: login, ...answer }, address }) =>
        resets.confirm({ login, ...answer, address }),
    }),
  ];
}

function permissionsRoute({ sharing }: Services, kind: ResourceKind): Route {
  return route.get(`/auth/permissions/${kind}s`, {
    summary: `List what you may do with each ${kind}; without a token, what a guest may`,
    answer: messageAnswer(
      `One entry per ${kind} on which you have a right.`,
      Type.Array(PermissionMessage),
    ),
    errors: ['unauthenticated'],
    handle: async ({ actor }) => list(sharing.permissions(actor, kind)),
  });
}

function requireSecret(authorization: string | undefined): string {
  const secret = bearerSecret(authorization);
  if (secret === undefined)
    throw unauthenticated('send the token as Authorization: Bearer <token>');
  return secret;
}

/** The browsers in which one stays logged in [contract 13]. */
function browserSessionRoutes({ sessions }: Services): readonly Route[] {
  return [
    route.get('/auth/sessions', {
      summary: 'List the browsers in which you stay logged in, those used last first',
      answer: messageAnswer('Your browsers.', Type.Array(BrowserSessionMessage)),
      handle: async ({ actor }) => json((await sessions.list(actor)).map(browserSessionToWire)),
    }),
    route.delete('/auth/sessions/:session_id', {
      summary: 'Log one of your browsers out; its tokens end as well',
      done: 'Logged out.',
      perform: ({ actor, params }) => sessions.remove(actor, params['session_id'] ?? ''),
    }),
  ];
}

/** Access keys, for gateways and devices that cannot renew a token every ten minutes. */
function accessKeyRoutes({ accessKeys }: Services): readonly Route[] {
  return [
    route.post('/auth/keys', {
      summary: 'Create an access key, usable as bearer token and as MQTT password',
      body: messageBody(readAccessKey),
      answer: messageAnswer(
        'The key with its secret, which is shown this once.',
        CreatedAccessKeyMessage,
      ),
      handle: async ({ actor, body }) => {
        const { record, secret } = await accessKeys.create(actor, body);
        return json({ ...accessKeyToWire(record), key: secret }, unkept);
      },
    }),
    route.get('/auth/keys', {
      summary: 'List your access keys, without their secrets',
      answer: messageAnswer('In order of creation.', Type.Array(AccessKeyMessage)),
      handle: async ({ actor }) =>
        list(mapSteps(accessKeys.list(actor), (keys) => keys.map(accessKeyToWire))),
    }),
    route.delete('/auth/keys/:key_id', {
      summary: 'Revoke an access key',
      done: 'The key is no longer valid.',
      perform: ({ actor, params }) => accessKeys.remove(actor, parseAccessKeyId(params['key_id'])),
    }),
  ];
}

/** Product tokens of User-Agent, the more telling first: most browsers also name others. */
const browsers: readonly (readonly [RegExp, string])[] = [
  [/\bEdgA?\//, 'Edge'],
  [/\bOPR\//, 'Opera'],
  [/\bSamsungBrowser\//, 'Samsung Internet'],
  [/\b(?:Firefox|FxiOS)\//, 'Firefox'],
  [/\b(?:Headless)?Chrome\/|\bCriOS\//, 'Chrome'],
  [/\bVersion\/.*\bSafari\//, 'Safari'],
];

const systems: readonly (readonly [RegExp, string])[] = [
  [/\bAndroid\b/, 'Android'],
  [/\biPhone\b/, 'iPhone'],
  [/\biPad\b/, 'iPad'],
  [/\bWindows\b/, 'Windows'],
  [/\bMac OS X\b/, 'Mac'],
  [/\bCrOS\b/, 'ChromeOS'],
  [/\bLinux\b/, 'Linux'],
];

/** Names the sender of this User-Agent as people do, such as "Chrome on Android". */
export function browserNameOf(userAgent: string | undefined): string {
  const text = userAgent ?? '';
  const browser = browsers.find(([pattern]) => pattern.test(text))?.[1];
  const system = systems.find(([pattern]) => pattern.test(text))?.[1];
  if (browser !== undefined) return system === undefined ? browser : `${browser} on ${system}`;
  // A program: its first product token.
  return /^[\w.+-]+(?:\/[\w.+-]+)?/.exec(text)?.[0] ?? 'unknown';
}
