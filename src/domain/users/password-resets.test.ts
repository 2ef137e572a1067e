import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createMemoryStorage } from '../../storage/memory/memory-storage.ts';
import { parseUserId, parseUsername } from '../ids.ts';
import { limits } from '../limits.ts';
import { silentReporter } from '../reporter.ts';
import { createLogins } from './logins.ts';
import { createPasswordResets, type SendMail } from './password-resets.ts';
import { createSessions } from './sessions.ts';

type Mail = Parameters<SendMail>[0];

/** Ama with an e-mail address, Kofi without one; both with the password "old password". */
async function aWorld({ canSend = true } = {}) {
  let now = 1_000_000;
  const clock = { now: () => now };
  const { users, credentials } = createMemoryStorage({ clock });
  const logins = createLogins({ users, clock, reporter: silentReporter });
  const sessions = createSessions({ credentials, clock });
  const passwordHash = await logins.hash('old password');
  for (const [name, profile] of [
    ['ama', { email: 'ama@example.org' }],
    ['kofi', {}],
  ] as const) {
    const account = { isAdmin: false, isDisabled: false, createdAt: now, profile };
    const id = parseUserId(`id-${name}`);
    await users.insert({ ...account, id, username: parseUsername(name) }, passwordHash);
  }
  const mails: Mail[] = [];
  const sendMail: SendMail = async (mail) => void mails.push(mail);
  const resets = createPasswordResets({
    ...{ users, logins, sessions, clock },
    ...(canSend && { sendMail }),
  });
  return {
    users,
    sessions,
    resets,
    mails,
    ask: (login: string) => resets.request({ login, address: '10.0.0.1' }),
    confirm: (login: string, code: string, password = 'new password') =>
      resets.confirm({ login, code, password, address: '10.0.0.1' }),
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
  const token = await world.sessions.open(parseUserId('id-ama'), 600);
  await world.ask('AMA@example.org');
  const [mail] = world.mails;
  assert.deepEqual([mail?.username, mail?.email], ['ama', 'ama@example.org']);
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

test('a code ends after its time, and after too many wrong tries', async () => {
  const world = await aWorld();
  await world.ask('ama');
  world.passTime(limits.passwordResetMs);
  await assert.rejects(world.confirm('ama', world.codeOf(world.mails[0])), /wrong or no longer/);
  await world.ask('ama');
  for (let tries = 0; tries < limits.passwordResetTriesMax; tries += 1) {
    await assert.rejects(world.confirm('ama', 'AAAA-AAAA'), /wrong or no longer/);
  }
  await assert.rejects(world.confirm('ama', world.codeOf(world.mails[1])), /wrong or no longer/);
  assert.equal(await world.logsIn('old password'), true);
});

test('one account is sent few codes, and a weak password is refused before the code', async () => {
  const world = await aWorld();
  for (let asked = 0; asked < limits.passwordResetsPerUser; asked += 1) await world.ask('ama');
  await assert.rejects(world.ask('Ama'), { code: 'rate_limited' });
  assert.equal(world.mails.length, limits.passwordResetsPerUser);
  const code = world.codeOf(world.mails.at(-1));
  await assert.rejects(world.confirm('ama', code, 'short'), { code: 'invalid' });
  await world.confirm('ama', code);
  assert.equal(await world.logsIn('new password'), true);
});

test('a service that cannot send mail says whom to ask', async () => {
  const world = await aWorld({ canSend: false });
  assert.equal(world.resets.isPossible, false);
  await assert.rejects(world.ask('ama'), { code: 'unavailable', message: /administrator/ });
});
