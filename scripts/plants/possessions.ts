import { type Plant, patch } from './plant.ts';

const credit = 'test/neighbours/alarms-credit.test.ts';
const paid = 'test/v2/paid-messages.test.ts';
const payment = 'src/storage/sql/outbox.ts';
const foreign = {
  file: 'test/walks/cloud-import.test.ts',
  test: 'a foreign service moves no cursor',
};

/** What belongs to somebody: credit, devices, secrets, and what a terminal shows. */
export const plantsOfPossessions: readonly Plant[] = [
  {
    name: 'texts go to proven numbers only',
    ...{ file: credit, test: 'a new account texts proven numbers only', says: /not proven/ },
    patches: [
      patch(
        'src/domain/notifications/recipients.ts',
        "options.mustBeProven && !isProven(user, 'phone', phone)",
        "!isProven(user, 'phone', phone) && user.username === ''",
      ),
    ],
  },
  {
    name: 'an account that signs up itself has little credit',
    ...{ file: credit, test: 'a new account texts proven numbers only', says: /20/ },
    patches: [
      patch(
        'src/domain/users/accounts.ts',
        "smsCreditNew !== 'unlimited' && {",
        "smsCreditNew === 'unlimited' && {",
      ),
    ],
  },
  {
    name: 'a start warns of a paid channel that is open to strangers',
    ...{ file: credit, test: 'a new account texts proven numbers only', says: /nobody was warned/ },
    patches: [
      patch(
        'src/app/channels.ts',
        "if (paid.length > 0 && parts.signUp === 'open') {",
        "if (paid.length > 0 && config.accounts.signup === 'closed') {",
      ),
    ],
  },
  {
    name: 'a user sends so many paid messages on a day',
    ...{ file: paid, test: 'so many paid messages on a day', says: /PER_DAY/ },
    patches: [patch(payment, "if (own >= perDay.each) return 'own_day_full';", '')],
  },
  {
    name: 'the service sends so many paid messages on a day',
    ...{ file: paid, test: 'so many paid messages on a day', says: /PER_DAY_ALL/ },
    patches: [patch(payment, "if (total >= perDay.all) return 'day_full';", '')],
  },
  {
    name: 'codes by text message cost what messages cost',
    ...{ file: paid, test: 'codes cost what messages cost', says: /204/ },
    patches: [patch('src/domain/users/address-proofs.ts', '      await pay(user, by);\n', '')],
  },
  {
    name: 'what is handed over is its giver’s until it is accepted',
    ...{ file: 'test/v2/hand-over.test.ts', test: 'until the receiver accepts it', says: /'eve'/ },
    patches: [
      patch(
        'src/domain/access/handing-over.ts',
        '  return { offeredTo: user.id };',
        '  return { owner: user.username, offeredTo: undefined };',
      ),
    ],
  },
  {
    name: 'a hand-over ends the grants of before',
    ...{ file: credit, test: 'a device handed over spends no credit', says: /devices:update/ },
    patches: [
      patch(
        'src/storage/sql/resources.ts',
        '      for (const sql of ended) await session.run(sql, id);\n    }',
        '    }',
      ),
    ],
  },
  {
    name: 'a webhook secret is random',
    ...{ file: 'test/channels/webhook-secrets.test.ts', test: 'under the same name has another' },
    says: /Expected "actual" to be strictly unequal/,
    patches: [
      patch(
        'src/domain/users/accounts.ts',
        'webhookSecret: createSigningKey(),',
        "webhookSecret: Buffer.from(username.padEnd(32)).toString('hex'),",
      ),
    ],
  },
  {
    name: 'a DELETE that a client leads back is refused',
    ...{ file: 'test/neighbours/accounts-addresses.test.ts', test: 'under the name ..' },
    says: /204 !== 400/,
    patches: [
      patch('src/http/route.ts', '      if (isDoubtful) requireNoTrailingSlash(request);\n', ''),
    ],
  },
  {
    name: 'a foreign service writes no control characters to the terminal',
    ...{ ...foreign, says: /\\p\{C\}/ },
    patches: [
      patch(
        'src/cli/printable.ts',
        "text.replace(/[\\t\\n\\r\\u2028\\u2029]+/g, ' ').replace(/\\p{C}/gu, '?')",
        'text',
      ),
    ],
  },
  {
    name: 'commands follow no redirect',
    ...{ ...foreign, says: /points to/ },
    patches: [patch('tools/client/foreign-answers.ts', "redirect: 'manual'", "redirect: 'follow'")],
  },
  {
    name: 'a password travels without encryption to this machine only',
    ...{ ...foreign, says: /--allow-http/ },
    patches: [
      patch(
        'tools/client/login-options.ts',
        "if (protocol !== 'http:' || isThisMachine(hostname)) return;",
        "if (protocol !== '' || isThisMachine(hostname)) return;",
      ),
    ],
  },
  {
    name: 'the command warns of a password among its arguments',
    ...{ file: 'test/walks/accounts-beside-service.test.ts', test: 'one set of options' },
    says: /seen by everybody/,
    patches: [
      patch(
        'tools/password-options.ts',
        'if (password !== undefined) {\n',
        'if (password !== undefined) {\n    return password;\n',
      ),
    ],
  },
];
