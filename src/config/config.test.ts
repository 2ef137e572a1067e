import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { trustsNobody } from '../lib/connection-guard.ts';
import { ConfigError, loadConfig } from './config.ts';
import { configKeys } from './config-keys.ts';

const directory = mkdtempSync(join(tmpdir(), 'kipimo-config-'));
after(() => rmSync(directory, { recursive: true }));

function problemsOf(environment: Record<string, string>): readonly string[] {
  try {
    loadConfig(environment);
  } catch (error) {
    assert.ok(error instanceof ConfigError);
    return error.problems;
  }
  return [];
}

test('an empty environment gives the defaults of the contract', () => {
  const { config, secrets } = loadConfig({});
  assert.deepEqual(config, {
    listen: {
      host: '0.0.0.0',
      httpPort: 8080,
      mqttPort: 1883,
      mqttsPort: 8883,
      fastPath: 'on',
      isTrustedProxy: trustsNobody,
    },
    storage: {
      engine: 'sqlite',
      serving: 'alone',
      directory: './data',
      guestsBytesMax: 1_073_741_824,
      diskFloorBytes: 268_435_456,
    },
    accounts: {
      adminUsername: 'admin',
      signup: 'open',
      tokenLifeMs: 600_000,
      v1TokenLifeMs: 60_000,
      proveAddresses: 'on',
      smsCreditNew: 20,
    },
    publicPush: 'open',
    datapoints: { valueBytesMax: 65_536, retention: {} },
    notifications: { evaluateOnCreate: false, messagesPerDay: { each: 200, all: 5_000 } },
    dashboard: {},
    webhooks: { privateAddresses: 'refused' },
    budgets: {},
    log: { level: 'info' },
  });
  assert.deepEqual(secrets, { channels: {} });
});

test('proxies and the public address are read, and what is neither is refused', () => {
  const { listen } = loadConfig({
    KIPIMO_TRUSTED_PROXIES: '127.0.0.1,10.0.0.0/8',
    KIPIMO_PUBLIC_URL: 'https://sensors.example.org/',
  }).config;
  assert.equal(listen.isTrustedProxy('10.1.2.3'), true);
  assert.equal(listen.isTrustedProxy('11.1.2.3'), false);
  assert.equal(listen.publicUrl, 'https://sensors.example.org');
  const must = /^KIPIMO_PUBLIC_URL must be/;
  for (const text of ['sensors.example.org', 'ftp://a.org', 'https://a.org/x', 'https://u@a.org']) {
    assert.match(problemsOf({ KIPIMO_PUBLIC_URL: text })[0] ?? '', must, text);
  }
});

test('several processes want a database that several can serve', () => {
  const url = 'postgres://kipimo@127.0.0.1/kipimo';
  const given = { KIPIMO_PROCESSES: 'several', KIPIMO_DATABASE_URL: url };
  assert.equal(loadConfig(given).config.storage.serving, 'shared');
  const must = /^KIPIMO_PROCESSES=several needs a postgres/;
  assert.match(problemsOf({ KIPIMO_PROCESSES: 'several' })[0] ?? '', must);
});

test('the address of a NATS server is refused with what to do, and is not shown', () => {
  for (const KIPIMO_NATS_URL of ['nats://a:hunter2@host', 'anything']) {
    const [problem, ...others] = problemsOf({ KIPIMO_NATS_URL });
    assert.deepEqual(others, []);
    assert.match(problem ?? '', /^KIPIMO_NATS_URL is a setting no more: .* take it out/);
    assert.doesNotMatch(problem ?? '', /hunter2/);
  }
});

test('totals of budgets are read by name', () => {
  const { config } = loadConfig({ KIPIMO_BUDGETS: 'connections=80000, partial_bytes=1000' });
  assert.deepEqual(config.budgets, { connections: 80_000, partial_bytes: 1_000 });
  for (const text of ['constructor=5', 'connections', 'connections=-1', 'connections=1']) {
    assert.match(problemsOf({ KIPIMO_BUDGETS: text })[0] ?? '', /^KIPIMO_BUDGETS must be/, text);
  }
});

test('both ends of what a number may be are read', () => {
  for (const text of ['0', String(Number.MAX_SAFE_INTEGER)]) {
    assert.deepEqual(problemsOf({ KIPIMO_DISK_FLOOR_BYTES: text }), []);
  }
  for (const text of [String(Number.MAX_SAFE_INTEGER + 1), '-1', '1.5']) {
    assert.equal(problemsOf({ KIPIMO_DISK_FLOOR_BYTES: text }).length, 1, text);
  }
});

test('an empty value counts as not set, for keys with and without a default', () => {
  assert.deepEqual(
    loadConfig({ KIPIMO_HTTP_PORT: '', KIPIMO_TLS_CERT: '', KIPIMO_DATABASE_URL: '' }),
    loadConfig({}),
  );
});

test('the configuration cannot be changed after it is read', () => {
  const { config, secrets } = loadConfig({});
  const { listen, storage, accounts, webhooks, log } = config;
  const groups = [config, listen, storage, accounts, webhooks, log, secrets, secrets.channels];
  for (const group of groups) assert.ok(Object.isFrozen(group));
});

test('the admin password is among the secrets and nowhere in the config', () => {
  const { config, secrets } = loadConfig({ KIPIMO_ADMIN_PASSWORD: 'correct horse' });
  assert.equal(secrets.adminPassword, 'correct horse');
  assert.ok(!JSON.stringify(config).includes('correct horse'));
});

test('everything that is wrong is told at once, each by its name', () => {
  const problems = problemsOf({
    KIPIMO_HTTP_PROT: '80',
    KIPIMO_HTTP_PORT: 'eighty',
    KIPIMO_SIGNUP: 'maybe',
    KIPIMO_TOKEN_TTL_S: '0',
  });
  assert.deepEqual(problems, [
    'KIPIMO_HTTP_PROT is unknown: docs/configuration.md lists the keys',
    'KIPIMO_HTTP_PORT must be a port, 0 to 65535 (0: any free one), got "eighty"',
    'KIPIMO_TOKEN_TTL_S must be a whole number of seconds, 1 to 31536000 (a year), got "0"',
    'KIPIMO_SIGNUP must be one of open, closed, got "maybe"',
  ]);
});

test('keys of others are left alone', () => {
  assert.deepEqual(loadConfig({ PATH: '/bin', kipimo_x: '1', NODE_ENV: '' }), loadConfig({}));
});

const good: readonly (readonly [string, string])[] = [
  ['KIPIMO_HTTP_PORT', '0'],
  ['KIPIMO_HTTP_PORT', '65535'],
  ['KIPIMO_HOST', '::1'],
  ['KIPIMO_HOST', 'localhost'],
  ['KIPIMO_EVALUATE_ON_CREATE', 'true'],
  ['KIPIMO_PUBLIC_PUSH', 'granted'],
  ['KIPIMO_LOG_LEVEL', 'silent'],
  ['KIPIMO_ADMIN_USERNAME', 'Boss.1@site'],
  ['KIPIMO_ADMIN_PASSWORD', '12345678'],
];
const bad: readonly (readonly [string, string])[] = [
  ['KIPIMO_HTTP_PORT', '-1'],
  ['KIPIMO_HTTP_PORT', '65536'],
  ['KIPIMO_HTTP_PORT', '80.5'],
  ['KIPIMO_HTTP_PORT', ' 80'],
  ['KIPIMO_HTTP_PORT', '0x50'],
  ['KIPIMO_HOST', 'http://x'],
  ['KIPIMO_HOST', 'a b'],
  ['KIPIMO_EVALUATE_ON_CREATE', 'TRUE'],
  ['KIPIMO_PUBLIC_PUSH', 'closed'],
  ['KIPIMO_LOG_LEVEL', 'trace'],
  ['KIPIMO_ADMIN_USERNAME', 'guest'],
  ['KIPIMO_ADMIN_USERNAME', '#'],
  ['KIPIMO_ADMIN_PASSWORD', '1234567'],
  ['KIPIMO_TOKEN_TTL_S', '1e3'],
  ['KIPIMO_DATA_DIR', 'a\0b'],
];
for (const [name, text] of good) {
  test(`${name} accepts ${JSON.stringify(text)}`, () => {
    assert.deepEqual(problemsOf({ [name]: text }), []);
  });
}
for (const [name, text] of bad) {
  test(`${name} refuses ${JSON.stringify(text)} and says what it must be`, () => {
    const problems = problemsOf({ [name]: text });
    assert.equal(problems.length, 1);
    assert.match(problems[0] ?? '', new RegExp(`^${name} must be `));
  });
}

for (const given of ['http://user:hunter2@host', 'nats://user:hunter2@host/x,nats://a']) {
  test(`KIPIMO_DATABASE_URL is refused when it is ${given}, and no credentials are shown`, () => {
    const [problem, ...others] = problemsOf({ KIPIMO_DATABASE_URL: given });
    const must = 'left out, for SQLite in the data directory, or the address of a';
    assert.deepEqual(others, []);
    assert.ok(problem?.startsWith(`KIPIMO_DATABASE_URL must be ${must}`), problem);
    assert.ok(!problem?.includes('hunter2'), problem);
  });
}

test('KIPIMO_DATABASE_URL names the engine', () => {
  assert.equal(loadConfig({}).config.storage.engine, 'sqlite');
  const url = 'postgresql://kipimo:hunter2@db.example/kipimo?sslmode=verify-full';
  const { config, secrets } = loadConfig({ KIPIMO_DATABASE_URL: url });
  assert.equal(config.storage.engine, 'postgres');
  assert.equal(secrets.databaseUrl, url);
  assert.ok(!JSON.stringify(config).includes('hunter2'));
});

test('the engine that kept everything in memory is refused with what to do instead', () => {
  const [problem, ...others] = problemsOf({ KIPIMO_DATABASE_URL: 'memory:' });
  assert.deepEqual(others, []);
  assert.match(problem ?? '', /^KIPIMO_DATABASE_URL must be left out: no engine .* \/dev\/shm/);
});

test('KIPIMO_DATABASE_URL may name several servers of one cluster', () => {
  const read = (hosts: string, rest = '') => {
    const url = `postgres://k:hunter2@${hosts}/k${rest}`;
    return loadConfig({ KIPIMO_DATABASE_URL: url }).secrets.databaseUrl === url;
  };
  assert.ok(read('a,b'));
  assert.ok(read('a:5432,[::1]:5433', '?target_session_attrs=read-write'));
  assert.ok(read('a,b', '?sslmode=verify-full&target_session_attrs=primary'));
  for (const text of ['a,', ',a', 'a,,b', 'a:x,b', 'a,b/k?target_session_attrs=any&']) {
    const [problem] = problemsOf({ KIPIMO_DATABASE_URL: `postgres://k:hunter2@${text}/k` });
    assert.match(problem ?? '', /^KIPIMO_DATABASE_URL must be left out/, text);
    assert.doesNotMatch(problem ?? '', /hunter2/);
  }
});

test('further databases in KIPIMO_DATABASE_URL are refused with what to do', () => {
  const [main, one, two] = ['main', 'one', 'two'].map((name) => `postgres://k:hunter2@${name}/k`);
  for (const given of [`${main},${one}, ${two}`, `${main}?sslmode=disable,${one}`]) {
    const [problem, ...others] = problemsOf({ KIPIMO_DATABASE_URL: given });
    assert.deepEqual(others, []);
    assert.match(
      problem ?? '',
      /^KIPIMO_DATABASE_URL must be the address of one database: further/,
    );
    assert.doesNotMatch(problem ?? '', /hunter2/);
  }
  for (const wrong of [`${main},`, `${main},memory:`, `,${main}`]) {
    assert.throws(() => loadConfig({ KIPIMO_DATABASE_URL: wrong }), /KIPIMO_DATABASE_URL must be/);
  }
});

for (const name of [
  'KIPIMO_SMS_URL',
  'KIPIMO_VOICE_URL',
  'KIPIMO_TWITTER_URL',
  'KIPIMO_SMTP_URL',
]) {
  test(`${name} that cannot be used is told by its name, without what it holds`, () => {
    for (const text of [
      'hunter2',
      'scheme://user:hunter2@host',
      'twilio://AC00:hunter2@api.twilio.com',
      'smtp://user:hunter2@host',
      'x://user:hunter2@api.x.com?access_token=hunter2',
      'smpp://user:hunter2@host?hunter2=hunter2',
      'africastalking://user:hunter2@host:hunter2',
    ]) {
      const [problem, ...others] = problemsOf({ [name]: text });
      assert.equal(others.length, 0);
      assert.match(problem ?? '', new RegExp(`^${name} must be a URL.* \\(docs/channels.md\\)$`));
      assert.doesNotMatch(problem ?? '', /hunter2/);
    }
  });

  test(`${name} is among the secrets and nowhere in the config`, () => {
    const { config, secrets } = loadConfig({ [name]: 'log:' });
    assert.deepEqual(Object.values(secrets.channels), [{ provider: 'log' }]);
    assert.doesNotMatch(JSON.stringify(config), /provider/);
  });
}

test('a secret that is refused is not repeated in the message', () => {
  assert.ok(!problemsOf({ KIPIMO_ADMIN_PASSWORD: 'shorty' }).join().includes('shorty'));
});

test('certificate and key come together, as files that can be read', () => {
  const file = join(directory, 'some.pem');
  writeFileSync(file, 'PEM');
  const { config } = loadConfig({ KIPIMO_TLS_CERT: file, KIPIMO_TLS_KEY: file });
  assert.deepEqual(config.listen.tls, { certFile: file, keyFile: file });
  const alone = 'KIPIMO_TLS_CERT and KIPIMO_TLS_KEY must be given together';
  assert.deepEqual(problemsOf({ KIPIMO_TLS_CERT: file }), [alone]);
  assert.deepEqual(problemsOf({ KIPIMO_TLS_KEY: file }), [alone]);
  const missing = join(directory, 'missing.pem');
  assert.deepEqual(
    problemsOf({ KIPIMO_TLS_CERT: missing, KIPIMO_TLS_KEY: file })[0],
    [`KIPIMO_TLS_CERT must be the path of a file that the service may read, got "${missing}"`][0],
  );
});

test('two servers cannot share a port, unless any free port will do', () => {
  assert.deepEqual(problemsOf({ KIPIMO_MQTT_PORT: '8080' }), [
    'KIPIMO_MQTT_PORT must differ from KIPIMO_HTTP_PORT, both are 8080',
  ]);
  assert.deepEqual(problemsOf({ KIPIMO_MQTT_PORT: '0', KIPIMO_HTTP_PORT: '0' }), []);
  assert.deepEqual(problemsOf({ KIPIMO_MQTTS_PORT: '8080' }), [], 'closed without a certificate');
});

test('every default in the table is a value the table accepts', () => {
  for (const [name, key] of Object.entries(configKeys)) {
    if ('default' in key && key.default !== undefined) {
      assert.notEqual(key.kind.parse(key.default), undefined, name);
    }
  }
});

test('hours are kept as long as datapoints at least', () => {
  const { config } = loadConfig({
    KIPIMO_RETENTION_RAW_DAYS: '30',
    KIPIMO_RETENTION_HOURLY_DAYS: '365',
  });
  assert.deepEqual(config.datapoints.retention, { rawDays: 30, hourlyDays: 365 });
  const days = { KIPIMO_RETENTION_RAW_DAYS: '30', KIPIMO_RETENTION_HOURLY_DAYS: '29' };
  assert.match(problemsOf(days).join(), /must not be less than KIPIMO_RETENTION_RAW_DAYS/);
  assert.match(problemsOf({ KIPIMO_RETENTION_RAW_DAYS: '0' }).join(), /RAW_DAYS must be/);
});
