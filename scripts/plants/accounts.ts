import { limit, type Plant, patch } from './plant.ts';

const logins = 'test/neighbours/accounts-logins.test.ts';
const strangers = 'test/neighbours/logins-strangers.test.ts';
const resets = { file: 'test/neighbours/accounts-resets.test.ts', test: 'she sets a new password' };
const addresses = 'test/neighbours/accounts-addresses.test.ts';
const proofs = 'test/v2/addresses.test.ts';
const limiter = 'src/domain/users/logins.ts';
const accounts = 'src/domain/users/accounts.ts';
const resetsCode = 'src/domain/users/password-resets.ts';
const candidates = 'src/domain/users/logins.ts';
const tokens = 'src/storage/sql/credentials.ts';

/** Logins, sign-ups, resets, and the addresses and tokens of accounts. */
export const plantsOfAccounts: readonly Plant[] = [
  {
    name: 'the devices of an account that goes are removed a few at a time',
    ...{ file: 'test/neighbours/changes-removed-account.test.ts', test: 'half a million sensors' },
    ...{ says: /honest client's/, servedMs: 2_000 },
    patches: [
      patch(accounts, '        await options.removeMuchOf((await get(id)).username);\n', ''),
    ],
  },
  {
    name: "a narrowed key of an administrator is a user's",
    ...{ file: 'test/v2/access-keys.test.ts', test: 'narrowed in any way', says: /403/ },
    patches: [
      patch(
        'src/domain/users/credential-directory.ts',
        "...(isNarrowed && { kind: 'user' }), ",
        '',
      ),
    ],
  },
  {
    name: 'a key is for the devices that were there, and for its own account’s',
    ...{ file: 'test/v2/devices-made-again.test.ts', test: 'no right on another one' },
    says: /200 !== 403/,
    patches: [
      patch(
        'src/domain/access/policy.ts',
        'return isNamed && isOldEnough(resource, { madeBy: createdAt, owner: actor.username });',
        'return isNamed;',
      ),
    ],
  },
  {
    name: 'failed logins of one address have an end',
    ...{ file: logins, test: 'invented names', says: /the guesser is slowed down/ },
    patches: [limit('loginFailuresPerAddress: 100', 'loginFailuresPerAddress: 100_000')],
  },
  {
    name: 'who logged in before has a lane of their own',
    ...{ file: logins, test: 'invented names', says: /honest login was refused: 429/ },
    patches: [patch(limiter, 'if (acquaintance !== undefined) {', 'if (login === undefined) {')],
  },
  {
    name: 'failed logins count for account and address together',
    ...{ file: logins, test: 'behind a proxy', says: /she was locked out/ },
    patches: [patch(limiter, 'limiter: byPair, key:', 'limiter: byPair, key: name, other:')],
  },
  {
    name: 'clients behind a trusted proxy are told apart',
    ...{ file: logins, test: 'behind a proxy', says: /she was locked out/ },
    patches: [
      patch(
        'src/http/authentication.ts',
        'if (forwarded === undefined || !isTrustedProxy(address)) return address;',
        'if (forwarded !== address) return address;',
      ),
    ],
  },
  {
    name: 'what a stranger says of its address is not believed',
    ...{ file: logins, test: 'invented names', says: /the guesser is slowed down/ },
    patches: [
      patch(
        'src/http/authentication.ts',
        'if (forwarded === undefined || !isTrustedProxy(address)) return address;',
        'if (forwarded === undefined) return address;',
      ),
    ],
  },
  {
    name: 'sign-ups have a queue of their own',
    ...{ file: logins, test: 'sign-ups at once' },
    says: /honest login was refused: 429|honest client's/,
    patches: [
      patch(
        'src/domain/users/password-work.ts',
        'queue.run(place, () => hashPassword(password, cost))',
        "queue.run({ ...place, lane: 'known' }, () => hashPassword(password, cost))",
      ),
    ],
  },
  {
    name: 'sign-ups of one address have an end',
    ...{
      file: logins,
      test: 'sign-ups at once',
      says: /were told that their address made too many/,
    },
    patches: [limit('signUpsPerAddress: 300', 'signUpsPerAddress: 300_000')],
  },
  {
    name: 'strangers who fail close an account to nobody',
    ...{ file: strangers, test: 'from 105 addresses', says: /was refused/ },
    patches: [
      patch(
        limiter,
        '{ limiter: byNetwork, key: network },\n',
        '{ limiter: byNetwork, key: network },\n{ limiter: byLogin, key: name },\n',
      ),
    ],
  },
  {
    name: 'failed logins of several strangers alternate at an account',
    ...{ file: strangers, test: 'from 105 addresses', says: /guesses in/ },
    patches: [
      patch(limiter, 'byLogin.blockedForMs(nameOf(attempt)) > 0', "nameOf(attempt) === ''"),
    ],
  },
  {
    name: 'a client that has left waits behind those that are there',
    ...{ file: 'src/lib/scheduling/fair-queue.test.ts', test: 'leaves before its turn' },
    says: /first|pending|LeftQueueError/,
    patches: [
      patch(
        'src/lib/scheduling/fair-queue.ts',
        "for (const signal of signals) signal.addEventListener('abort', leave);",
        '',
      ),
    ],
  },
  {
    name: 'strangers use up no codes of who is known',
    ...{ ...resets, says: /her mail never came/ },
    patches: [patch(resetsCode, '!(await users.knowsNetwork(userId, network))', "userId !== ''")],
  },
  {
    name: 'codes are sent in rotation by requesting network',
    ...{
      file: 'src/channels/code-sender.test.ts',
      test: 'take turns by network',
      says: /stranger/,
    },
    patches: [patch('src/channels/code-sender.ts', 'payer: askedFrom }', "payer: 'all' }")],
  },
  {
    name: 'codes for a new password to one account have an end',
    ...{ ...resets, says: /mails: ten for all strangers/ },
    patches: [limit('passwordResetsOfStrangers: 10', 'passwordResetsOfStrangers: 10_000')],
  },
  {
    name: 'guesses at codes count for account and address together',
    ...{ ...resets, says: /the code is wrong/ },
    patches: [
      patch(resetsCode, 'triesByPair.blockedForMs(pair)', 'triesByPair.blockedForMs(String(id))'),
      patch(resetsCode, 'triesByPair.recordFailure(pair)', 'triesByPair.recordFailure(String(id))'),
    ],
  },
  {
    name: 'nobody signs up with an e-mail address as username',
    ...{
      file: addresses,
      test: 'takes her address as a username',
      says: /the thief has her address/,
    },
    patches: [patch(accounts, "if (actor.kind !== 'admin') requireOwnUsername(username);", '')],
  },
  {
    name: 'an e-mail address logs in who proved it',
    ...{ file: proofs, test: 'who squats on an address', says: /nobody proved it yet/ },
    patches: [
      patch(
        candidates,
        'strength === provenByCode || strength > strengthOf(second)',
        'strength >= 0',
      ),
    ],
  },
  {
    name: 'codes for a new password go to proven addresses only',
    ...{ file: proofs, test: 'who squats on an address', says: /nobody had proved/ },
    patches: [
      patch(
        candidates,
        '|| profile.email === undefined || !proof) continue',
        '|| profile.email === undefined) continue',
      ),
      patch(
        candidates,
        'strengthOf(login) === provenByCode || holder',
        'login !== holder || holder',
      ),
      patch(candidates, 'provenAt: proof.provenAt', 'provenAt: 0'),
    ],
  },
  {
    name: 'a reset ends the keys of who had the account before the proof',
    ...{ file: proofs, test: 'a reset ends the keys', says: /200/ },
    patches: [
      patch(resetsCode, 'passwordHash, { keysMadeBefore: found.provenAt }', 'passwordHash'),
    ],
  },
  {
    name: 'no account is called "." or ".."',
    ...{ file: proofs, test: 'some names are nobody', says: /400/ },
    patches: [
      patch(
        'src/domain/ids.ts',
        'if (dotPath.test(text)) throw invalid(`username',
        'if (!text) throw invalid(`username',
      ),
    ],
  },
  {
    name: 'no account is called "me"',
    ...{ file: proofs, test: 'some names are nobody', says: /400/ },
    patches: [
      patch('src/domain/ids.ts', "if (username.toLowerCase() !== 'me')", "if (username !== '')"),
    ],
  },
  {
    name: 'a token is renewed only while the one before it stands',
    ...{ file: 'test/v2/accounts.test.ts', test: 'no token outlives a new password', says: /401/ },
    patches: [
      patch(
        tokens,
        'exists (select 1 from tokens where hash = $6 and user_id = users.id)',
        '$6 is not null',
      ),
    ],
  },
  {
    name: 'a login counts only while its password stands',
    ...{ file: 'test/v2/accounts.test.ts', test: 'no token outlives a new password', says: /401/ },
    patches: [
      patch(tokens, ' and password_hash = $6`,\n  token:', ' and $6 is not null`,\n  token:'),
    ],
  },
  {
    name: 'renewing in a loop leaves no token behind',
    ...{ file: logins, test: 'no token outlives', says: /a token outlived/ },
    patches: [
      patch(
        tokens,
        'exists (select 1 from tokens where hash = $6 and user_id = users.id)',
        '$6 is not null',
      ),
    ],
  },
  {
    name: 'a new password needs the old one',
    ...{ file: 'test/v2/users.test.ts', test: 'who changes their own password', says: /403/ },
    patches: [
      patch(
        accounts,
        'if (person.userId === id) await logins.confirm(user, oldPassword, address);',
        '',
      ),
    ],
  },
  {
    name: 'the answer to who forgot a password waits for nothing of the account',
    ...{ file: 'src/domain/users/password-resets.test.ts', test: 'nothing that depends on' },
    says: /isAnswered/,
    patches: [
      patch(
        'src/domain/users/password-resets.ts',
        'mailCode(asked).catch',
        'await mailCode(asked).catch',
      ),
    ],
  },
  {
    name: 'tokens, keys, cookies, codes and links are stored as hashes',
    ...{ file: 'test/v2/secrets-at-rest.test.ts', test: 'no secret that logs', says: /token/ },
    patches: [
      patch(
        'src/lib/secret-token.ts',
        "=> hash('sha256', secret",
        "=> secret || hash('sha256', secret",
      ),
    ],
  },
];
