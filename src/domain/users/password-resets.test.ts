import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setImmediate } from 'node:timers/promises';
import { aKey } from '../../../test/contract/storage/builders.ts';
import { openServiceStorage } from '../../../test/service-storage.ts';
import { silentLog } from '../../lib/log.ts';
import { parseUserId, parseUsername } from '../ids.ts';
import { limits } from '../limits.ts';
import { silentReporter } from '../reporter.ts';
import { vouchedProofs } from './address-proofs.ts';
import { createFailureLimiters } from './failure-limiters.ts';
import { createDeviceCookies, createLogins } from './logins.ts';
import type { CodeMessage, CodeSender } from './message-language.ts';
import { createPasswordResets } from './password-resets.ts';
import { createPasswordWork } from './password-work.ts';
import { createSessions } from './sessions.ts';

type Mail = CodeMessage;

/** Ama with an e-mail address, Kofi without one; both with the password "old password". */
async function aWorld({ canSend = true } = {}) {
  let now = 1_000_000;
  const clock = { now: () => now };
  const { storage, feed } = await openServiceStorage();
  const { credentials, passwordResets } = storage;
  const users = { ...storage.users };
  /** Codes are kept, and mailed, behind the answer. */
  const kept: Promise<void>[] = [];
  const pending: typeof passwordResets = {
    ...passwordResets,
    insert(reset, now) {
      const keeping = passwordResets.insert(reset, now);
      kept.push(keeping);
      return keeping;
    },
  };
  const failures = createFailureLimiters({ clock, store: storage.failures });
  const work = createPasswordWork();
  const logins = createLogins({
    ...{ users, work, failures, clock, reporter: silentReporter },
    deviceCookies: createDeviceCookies('secret'),
  });
  const sessions = createSessions({ credentials, clock, changes: feed });
  const passwordHash = await work.hash({ lane: 'sign-up', payer: 'test' }, 'old password');
  for (const [name, profile] of [
    ['ama', { email: 'ama@example.org' }],
    ['kofi', {}],
  ] as const) {
    const proofs = vouchedProofs(profile, now);
    const webhookSecret = name;
    const state = { isAdmin: false, isDisabled: false, createdAt: now };
    const account = { ...state, profile, proofs, webhookSecret };
    const id = parseUserId(`id-${name}`);
    await users.insert({ ...account, id, username: parseUsername(name) }, passwordHash);
  }
  const mails: Mail[] = [];
  const codes: CodeSender = {
    channels: new Set(canSend ? ['email'] : []),
    send: async (mail) => void mails.push(mail),
  };
  const resets = createPasswordResets({
    ...{ users, work, sessions, pending, failures, clock, codes, log: silentLog },
  });
  return {
    users,
    logins,
    sessions,
    resets,
    mails,
    credentials,
    async ask(login: string, address = '10.0.0.1'): Promise<void> {
      await resets.request({ login, address });
      for (let looks = 10; looks > 0; looks -= 1) await setImmediate();
      await Promise.all(kept);
    },
    confirm: (login: string, code: string, password = 'new password', address = '10.0.0.1') =>
      resets.confirm({ login, code, password, address }),
    logsIn: async (password: string) => {
      const login = { username: 'ama', password, address: '10.0.0.2' };
      return logins.logIn(login).then(
        () => true,
        () => false,
      );
    },
    passTime: (durationMs: number) => {
      now += durationMs;
    },
    codeOf: (mail: Mail | undefined) => /code is (\S{9})/.exec(mail?.text ?? '')?.[1] ?? 'no code',
  };
}

test('the code from the mail sets a new password, once, and ends all tokens', async () => {
  const world = await aWorld();
  const login = { username: 'ama', password: 'old password', address: '10.0.0.2' };
  const token = await world.sessions.open(await world.logins.logIn(login), 600);
  await world.ask('AMA@example.org');
  const [mail] = world.mails;
  assert.deepEqual([mail?.username, mail?.address], ['ama', 'ama@example.org']);
  const code = world.codeOf(mail);
  await world.confirm('ama', code.toLowerCase().replace('-', ' '));
  assert.deepEqual(
    [await world.logsIn('new password'), await world.logsIn('old password')],
    [true, false],
  );
  await assert.rejects(async () => world.sessions.authenticate(token), { code: 'unauthenticated' });
  await assert.rejects(world.confirm('ama', code), { code: 'unauthenticated' });
});

test('nobody learns who has an account or an e-mail address', async () => {
  const world = await aWorld();
  await world.ask('kofi');
  await world.ask('nobody');
  assert.deepEqual(world.mails, []);
  const refusal = { code: 'unauthenticated', message: /ask for a new one/ };
  await assert.rejects(world.confirm('nobody', 'AAAA-AAAA'), refusal);
  await assert.rejects(world.confirm('kofi', 'AAAA-AAAA'), refusal);
});

test('an answer waits for nothing that depends on the account', async () => {
  const world = await aWorld();
  const forever = new Promise<never>(() => undefined);
  world.users.knowsNetwork = () => forever;
  let isAnswered = false;
  void world.resets.request({ login: 'ama', address: '10.0.0.1' }).then(() => {
    isAnswered = true;
  });
  for (let looks = 10; looks > 0; looks -= 1) await setImmediate();
  assert.ok(isAnswered);
});

test('a code ends after its time, and after too many wrong tries', async () => {
  const world = await aWorld();
  await world.ask('ama');
  world.passTime(limits.passwordResetMs);
  await assert.rejects(world.confirm('ama', world.codeOf(world.mails[0])), /wrong or no longer/);
  await world.ask('ama');
  for (let tries = 0; tries < limits.passwordResetTriesMax; tries += 1) {
    await assert.rejects(world.confirm('ama', 'AAAA-AAAA'), /wrong or no longer/);
  }
  const code = world.codeOf(world.mails[1]);
  await assert.rejects(world.confirm('ama', code), /wrong or no longer/);
  assert.equal(await world.logsIn('old password'), true);
  // A guesser does not hinder a client that has the code.
  await world.confirm('ama', code, 'new password', '10.0.0.9');
  assert.equal(await world.logsIn('new password'), true);
});

test('one account is sent few codes, and a weak password is refused before the code', async () => {
  const world = await aWorld();
  for (let asked = 0; asked < limits.passwordResetsPerUser; asked += 1) await world.ask('ama');
  await world.ask('Ama');
  assert.equal(world.mails.length, limits.passwordResetsPerUser);
  const code = world.codeOf(world.mails[0]);
  await assert.rejects(world.confirm('ama', code, 'short'), { code: 'invalid' });
  await world.confirm('ama', code);
  assert.equal(await world.logsIn('new password'), true);
});

test('a service that cannot send mail says whom to ask', async () => {
  const world = await aWorld({ canSend: false });
  assert.equal(world.resets.isPossible, false);
  await assert.rejects(world.ask('ama'), { code: 'unavailable', message: /administrator/ });
});

test('strangers who ask for codes take none away from the owner', async () => {
  const world = await aWorld();
  for (let stranger = 0; stranger < 30; stranger += 1) await world.ask('ama', `10.1.${stranger}.1`);
  assert.equal(world.mails.length, limits.passwordResetsOfStrangers);
  await world.users.rememberNetwork(parseUserId('id-ama'), '10.0.0.1', 1);
  await world.ask('ama');
  assert.equal(world.mails.length, limits.passwordResetsOfStrangers + 1);
  // A code that a stranger asked for reached the owner's mailbox as well.
  await world.confirm('ama', world.codeOf(world.mails[4]));
  assert.equal(await world.logsIn('new password'), true);
});

test('a reset ends the keys made before the address was proven, and no others', async () => {
  const world = await aWorld();
  const provenAt = 1_000_000;
  for (const [id, createdAt] of [
    ['before', provenAt - 1],
    ['after', provenAt],
  ] as const) {
    await world.credentials.insertKey(aKey(id, 'ama', { createdAt }));
  }
  await world.ask('ama');
  await world.confirm('ama', world.codeOf(world.mails[0]));
  const keys = (await Array.fromAsync(world.credentials.listKeys(parseUserId('id-ama')))).flat();
  assert.deepEqual(
    keys.map(({ id }) => id),
    ['after'],
  );
});
