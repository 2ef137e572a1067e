import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { test } from 'node:test';
import { aMessage } from '../../test/contract/channels/channel-contract.ts';
import { createManualClock } from '../../test/manual-clock.ts';
import { temporaryStorage } from '../../test/temporary-storage.ts';
import type { ChannelMessage } from '../domain/notifications/channel.ts';
import { type Log, silentLog } from '../lib/log.ts';
import { openChannels } from './index.ts';
import type { ChannelSettings } from './provider-settings.ts';

const { callTexts } = await temporaryStorage();

const open = (settings: ChannelSettings, log: Log = silentLog) =>
  openChannels({
    settings,
    webhooks: 'refused',
    installationSecret: '0'.repeat(64),
    callTexts,
    clock: createManualClock(0),
    log,
  });

test('without settings there is the webhook alone', async () => {
  const { channels, answerCall, close } = await open({});
  assert.deepEqual([...channels.keys()], ['webhook']);
  assert.equal(answerCall, undefined);
  close();
});

test('a channel set to the log tells that a message was due, not what it says', async () => {
  const lines: unknown[] = [];
  const log: Log = { ...silentLog, info: (fields, text) => lines.push([fields, text]) };
  const provider = { provider: 'log' } as const;
  const settings = { sms: provider, voice: provider, twitter: provider, email: provider };
  const { channels, close } = await open(settings, log);
  const message: ChannelMessage = aMessage({ text: 'a private matter' });
  for (const name of ['sms', 'voice', 'twitter', 'email'] as const) {
    const outcome = await channels.get(name)?.send(message, new AbortController().signal);
    assert.deepEqual(outcome, { kind: 'sent' });
  }
  close();
  assert.equal(lines.length, 4);
  assert.doesNotMatch(JSON.stringify(lines), /private matter/);
});

/** What a fresh process loads for these settings. */
function packagesFor(settings: string): readonly string[] {
  const script = `
    const urls = [];
    (await import('node:module')).registerHooks({
      load: (url, context, next) => { urls.push(url); return next(url, context); },
    });
    const { openChannels } = await import('${new URL('./index.ts', import.meta.url).href}');
    const { close } = await openChannels({
      settings: ${settings}, webhooks: 'refused', installationSecret: '', log: {},
      clock: { now: () => 0 },
    });
    close();
    console.log(JSON.stringify(urls));`;
  const words = ['--input-type=module', '-e', script];
  const paths = JSON.parse(execFileSync(process.execPath, words, { encoding: 'utf8' })) as string[];
  return [...new Set(paths.flatMap((path) => /node_modules\/([^/]+)/.exec(path)?.[1] ?? []))];
}

test('no package is loaded for a channel that is not set', () => {
  assert.deepEqual(packagesFor('{}'), []);
});

test('the package of a channel that is set is loaded, and no other', () => {
  const email = `{ email: { provider: 'smtp', host: '127.0.0.1', port: 1, security: 'plain',
    from: 'a@b.c', senderName: 'x' } }`;
  assert.deepEqual(packagesFor(email), ['nodemailer']);
  const smpp = `{ sms: { provider: 'smpp', host: '127.0.0.1', port: 1, isTls: false,
    systemId: 'a', password: 'b', systemType: '', from: 'c', long: 'udh' } }`;
  const loaded = packagesFor(smpp);
  assert.ok(loaded.includes('smpp'), `${loaded}`);
  assert.ok(!loaded.includes('nodemailer'), `${loaded}`);
});
