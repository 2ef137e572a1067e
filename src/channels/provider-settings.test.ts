import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc, { constantFrom, oneof, property, string } from 'fast-check';
import { channelUrls } from './provider-settings.ts';
import { ProviderUrlError } from './provider-url.ts';

const { sms, voice, twitter, email } = channelUrls;
const sid = 'AC0123456789abcdef0123456789abcdef';

function problemOf(read: (text: string) => unknown, text: string): string {
  try {
    read(text);
  } catch (error) {
    assert.ok(error instanceof ProviderUrlError, `${error}`);
    return error.message;
  }
  return 'none';
}

test('a Twilio account is read from its URL', () => {
  assert.deepEqual(sms(`twilio://${sid}:a%40b%25@api.twilio.com?from=%2B15550100`), {
    provider: 'twilio',
    accountSid: sid,
    username: sid,
    password: 'a@b%',
    from: '+15550100',
    base: new URL('https://api.twilio.com/'),
  });
});

test('an API key of Twilio names its account beside it', () => {
  const settings = sms(`twilio://SK1:secret@api.twilio.com?account=${sid}&from=KIPIMO`);
  assert.ok(settings.provider === 'twilio');
  assert.equal(settings.accountSid, sid);
  assert.equal(settings.username, 'SK1');
});

test('a number written with a bare plus is a number', () => {
  const settings = sms('africastalking://farm:key@api.africastalking.com?from=+254711000000');
  assert.ok(settings.provider === 'africastalking');
  assert.equal(settings.from, '+254711000000');
  assert.equal(settings.base.href, 'https://api.africastalking.com/');
});

test('SMPP has the usual ports', () => {
  const plain = sms('smpp://id:pw@smsc.example.org?from=KIPIMO');
  const secure = sms('smpps://id:pw@[2001:db8::1]?from=KIPIMO&long=payload&system_type=farm');
  assert.ok(plain.provider === 'smpp' && secure.provider === 'smpp');
  assert.deepEqual([plain.port, plain.isTls, plain.long], [2_775, false, 'udh']);
  assert.deepEqual([secure.port, secure.isTls, secure.host], [3_550, true, '2001:db8::1']);
  assert.deepEqual([secure.long, secure.systemType], ['payload', 'farm']);
});

for (const [url, security, port] of [
  ['smtps://u:p@mail.example.org?from=k@example.org', 'tls', 465],
  ['smtp://u:p@mail.example.org?from=k@example.org', 'starttls', 587],
  ['smtp://mail.example.org:25?from=k@example.org', 'starttls', 25],
  ['smtp://mail.example.org:25?from=k@example.org&tls=off', 'plain', 25],
  ['smtp://u:p@127.0.0.1:2525?from=k@example.org', 'plain', 2525],
  ['smtp://u:p@127.0.0.1:2525?from=k@example.org&tls=required', 'starttls', 2525],
] as const) {
  test(`${url} means ${security} on port ${port}`, () => {
    const settings = email(url);
    assert.ok(settings.provider === 'smtp');
    assert.deepEqual([settings.security, settings.port], [security, port]);
  });
}

test('a user that is an address is also who sends', () => {
  const settings = email('smtps://alarm%40example.org:p@mail.example.org');
  assert.ok(settings.provider === 'smtp');
  assert.equal(settings.from, 'alarm@example.org');
});

test('every channel can be told to write to the log', () => {
  for (const read of Object.values(channelUrls)) {
    assert.deepEqual(read('log:'), { provider: 'log' });
  }
});

const smtp = 'smtp://u:p@mail.example.org';
for (const [what, read, text, problem] of [
  ['a scheme nobody knows', sms, 'nexmo://a:b@c', /twilio:\/\/…, africastalking:\/\/…/],
  ['text', voice, 'hello', /twilio:\/\/…/],
  ['a voice by SMPP', voice, 'smpp://a:b@c?from=x', /twilio:\/\/…/],
  ['no sender', sms, `twilio://${sid}:t@api.twilio.com`, /from=/],
  ['no secret', sms, `twilio://${sid}@api.twilio.com?from=1`, /auth token/],
  ['no account', sms, 'twilio://SK1:t@api.twilio.com?from=1', /AC…/],
  ['a caller that is missing', voice, 'africastalking://a:b@c', /from=/],
  ['an unknown parameter', twitter, 'x://a:b@api.x.com?acess_token=1', /among access_token/],
  ['a parameter twice', sms, 'smpp://a:b@c?from=1&from=2', /one from, not two/],
  ['half of the tokens', twitter, 'x://a:b@api.x.com?access_token=1', /access_secret=/],
  ['a lone percent sign', sms, `twilio://${sid}:100%@api.twilio.com?from=1`, /% written as %25/],
  ['http to elsewhere', sms, `twilio://${sid}:t@c?from=1&base=http://10.0.0.1`, /base is https/],
  ['a path', sms, 'africastalking://a:b@c/version1?from=x', /without a path/],
  ['a hash sign', sms, 'africastalking://a:b@c?from=x#y', /# is written %23/],
  ['a name too long', sms, 'smpp://a:b@c?from=KIPIMO-ALARMS', /at most 11/],
  ['a password in clear', email, `${smtp}?from=k@example.org&tls=off`, /must not travel in clear/],
  ['a user without password', email, 'smtp://u@mail.example.org?from=k@e.org', /both a user/],
  [
    'a mail server without a sender',
    email,
    smtp,
    /:PASSWORD@mail\.example\.org\?from=kipimo@example\.org$/,
  ],
  ['a sender that is none', email, `${smtp}?from=nobody`, /from is an address/],
  ['a URL that is too long', sms, `smpp://a:b@c?from=${'1'.repeat(3_000)}`, /at most 2048/],
] as const) {
  test(`${what} is told as such`, () => assert.match(problemOf(read, text), problem));
}

test('any text is read or refused in words that show nothing of it', () => {
  const scheme = constantFrom('twilio', 'africastalking', 'smpp', 'smpps', 'x', 'smtp', 'smtps');
  const secret = 'Zq7-secret';
  fc.assert(
    property(
      oneof(string(), string({ unit: 'binary' })),
      string(),
      scheme,
      constantFrom(...Object.values(channelUrls)),
      (host, query, name, read) => {
        for (const text of [host, `${name}://${secret}:${secret}@${host}?${secret}=${query}`]) {
          assert.doesNotMatch(problemOf(read, text), /Zq7/);
        }
      },
    ),
  );
});
