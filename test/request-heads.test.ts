// In a process of its own: it trusts any certificate.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { connect, type Socket } from 'node:net';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { connect as connectTls } from 'node:tls';
import { keyOf } from './compatible/line-endpoint.ts';
import { temporaryDirectory } from './contract/storage/temporary-directory.ts';
import { type Service, startService } from './service.ts';

const open: { short?: Service; ordinary?: Service; secure?: Service } = {};
const signature = [0x0d, 0x0a, 0x0d, 0x0a, 0x00, 0x0d, 0x0a, 0x51, 0x55, 0x49, 0x54, 0x0a];
const proxyHeader = Buffer.from([
  ...signature,
  0x21,
  0x11,
  0,
  12,
  192,
  0,
  2,
  9,
  127,
  0,
  0,
  1,
  1,
  1,
  0,
  80,
]);

before(async () => {
  // The certificate is nobody's.
  process.env['NODE_TLS_REJECT_UNAUTHORIZED'] = '0';
  const directory = temporaryDirectory({ after });
  const [cert = '', key = ''] = ['cert.pem', 'key.pem'].map((name) => join(directory, name));
  const words = 'req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 2';
  const files = ['-subj', '/CN=localhost', '-keyout', key, '-out', cert];
  execFileSync('openssl', [...words.split(' '), ...files], { stdio: 'ignore' });
  open.short = await prepared({ KIPIMO_SHORT_WAY: 'on', KIPIMO_TRUSTED_PROXIES: '127.0.0.1' });
  open.ordinary = await prepared({ KIPIMO_SHORT_WAY: 'off' });
  open.secure = await prepared({ KIPIMO_TLS_CERT: cert, KIPIMO_TLS_KEY: key });
});

after(async () => {
  for (const service of Object.values(open)) await service[Symbol.asyncDispose]();
  delete process.env['NODE_TLS_REJECT_UNAUTHORIZED'];
});

async function prepared(environment: Record<string, string>): Promise<Service> {
  const service = await startService({ environment });
  const json = { id: 'D', sensors: [{ id: 'S' }, { id: 'field1' }] };
  assert.equal((await service.as('ama')({ method: 'POST', path: '/devices', json })).status, 204);
  return service;
}

function service(name: string): Service {
  const found = open[name as keyof typeof open];
  assert.ok(found !== undefined);
  return found;
}

interface Sent {
  /** Then the client ends its side of the connection. */
  readonly isEnded?: boolean;
  /** How many answers to wait for; absent: until the connection ends. */
  readonly answers?: number;
}

/** Sends the pieces one by one; answers what came until the end, or until so many answers. */
async function exchange(
  one: Service,
  pieces: readonly (string | Uint8Array)[],
  { isEnded = false, answers }: Sent = {},
): Promise<string> {
  const { port, protocol } = new URL(one.url);
  const socket: Socket =
    protocol === 'https:'
      ? connectTls({ port: Number(port), host: '127.0.0.1', rejectUnauthorized: false })
      : connect({ port: Number(port), host: '127.0.0.1', noDelay: true, allowHalfOpen: true });
  socket.on('error', () => undefined);
  let heard = '';
  const over = new Promise<void>((resolve) => {
    for (const event of ['end', 'close']) socket.once(event, () => resolve());
    socket.setEncoding('latin1').on('data', (text: string) => {
      heard += text;
      if (answers !== undefined && statuses(heard).length >= answers) resolve();
    });
  });
  for (const piece of pieces) {
    await new Promise((resolve) => socket.write(piece as string, 'latin1', resolve));
    if (pieces.length > 1) await new Promise((resolve) => setImmediate(resolve));
  }
  if (isEnded) socket.end();
  await over;
  socket.destroy();
  return heard;
}

const statuses = (text: string): readonly string[] =>
  [...text.matchAll(/HTTP\/1\.1 (\d{3}) /g)].map(([, status = '']) => status);

const head = (target: string, ...fields: readonly string[]): string =>
  [`${target} HTTP/1.1`, 'Host: x', ...fields, '', ''].join('\r\n');
const target = 'POST /api/v2/devices/D/sensors/S/value';
const push = `${head(target, 'Content-Length: 2')}21`;
/** Requests that the fast path leaves to Fastify. */
const oddPush = `${head(target, 'X-Odd: a', 'Content-Length: 2')}21`;
const healthz = head('GET /healthz');
const withLf = (text: string): string => text.replaceAll('\r\n', '\n');
const last = head('GET /healthz', 'Connection: close');
const refused = (answer: string): void => assert.deepEqual(statuses(answer), ['400'], answer);

async function storedAt(one: Service): Promise<number> {
  const reply = await one.as('ama')({ path: '/devices/D/sensors/S/values?limit=1000000' });
  return (JSON.parse(reply.text) as readonly unknown[]).length;
}

for (const name of ['short', 'ordinary', 'secure']) {
  describe(`heads with line feeds alone, ${name}`, () => {
    test('a push is stored, whichever of its lines ends with a lone line feed', async () => {
      const one = service(name);
      for (const whole of [push, oddPush]) {
        const lines = whole.split('\r\n');
        const bent = lines.slice(1).map((_, at) => {
          const before = lines.slice(0, at + 1).join('\r\n');
          return `${before}\n${lines.slice(at + 1).join('\r\n')}`;
        });
        for (const text of [withLf(whole), ...bent]) {
          const stored = await storedAt(one);
          const answer = await exchange(one, [text + withLf(last)]);
          assert.deepEqual(statuses(answer), ['204', '200'], JSON.stringify(text));
          assert.equal(await storedAt(one), stored + 1);
        }
      }
    });

    test('lone line feeds are read behind other requests, and cut anywhere', async () => {
      const one = service(name);
      const all = push + withLf(oddPush) + push + healthz + withLf(push) + withLf(last);
      const expected = ['204', '204', '204', '200', '204', '200'];
      assert.deepEqual(statuses(await exchange(one, [all])), expected);
      assert.deepEqual(statuses(await exchange(one, [...all])), expected);
      for (let at = push.length; at < push.length + oddPush.length; at += 3) {
        const answer = await exchange(one, [all.slice(0, at), all.slice(at)]);
        assert.deepEqual(statuses(answer), expected, `cut at ${at}`);
      }
    });

    test('what changes something is carried out in the order of the requests', async () => {
      const one = service(name);
      const token = await one.tokenOf('ama');
      const post = (path: string, json: unknown): string => {
        const body = JSON.stringify(json);
        const length = `Content-Length: ${body.length}`;
        const fields = [`Authorization: Bearer ${token}`, 'Content-Type: application/json', length];
        return head(`POST /api/v2${path}`, 'X-Odd: a', ...fields) + body;
      };
      for (let count = 0; count < 10; count += 1) {
        const id = `breath-${count}`;
        const values = `/devices/${id}/sensors/s/value`;
        const texts = ['z'.repeat(5_000), 'short', 'y'.repeat(20_000), 'last'];
        const made = post('/devices', { id, sensors: [{ id: 's' }] });
        const pushes = texts.map((value) => post(values, { value }));
        const answer = await exchange(one, [made + pushes.join('') + last]);
        assert.deepEqual(statuses(answer), ['204', '204', '204', '204', '204', '200']);
        const { json } = await one.as('ama')({ path: `/devices/${id}/sensors/s/values` });
        const stored = (json as readonly { readonly value: string }[]).map(({ value }) => value);
        assert.deepEqual(stored, texts);
      }
    });

    test('a request that comes in chunks has no lone line feed', async () => {
      const one = service(name);
      const chunked = `${head(target, 'Transfer-Encoding: chunked')}2\r\n21\r\n0\r\n\r\n`;
      const behind = await exchange(one, [chunked + withLf(oddPush) + chunked + last]);
      assert.deepEqual(statuses(behind), ['204', '204', '204', '200']);
      const stored = await storedAt(one);
      for (const text of [withLf(chunked), chunked.replace('\r\nHost', '\nHost')]) {
        refused(await exchange(one, [text + push]));
      }
      refused(await exchange(one, [chunked.replace('2\r\n21', '2\n21') + push]));
      refused(await exchange(one, [chunked.replace('21\r\n', '21\n') + push]));
      assert.equal(await storedAt(one), stored);
    });
  });
}

test('the classic sketch for ThingSpeak is stored and told the number of its entry', async () => {
  for (const one of Object.values(open)) {
    const key = await keyOf(one, 'ama', { devices: ['D'] });
    const sketch =
      'POST /update HTTP/1.1\nHost: x\nConnection: close\n' +
      `X-THINGSPEAKAPIKEY: ${key}\nContent-Type: application/x-www-form-urlencoded\n` +
      'Content-Length: 11\n\nfield1=21.5';
    assert.match(await exchange(one, [sketch]), /^HTTP\/1\.1 200 .*\r\n\r\n\d{10}$/s);
    const bare = await exchange(one, [`GET /update?api_key=${key}&field1=4\r\n`]);
    assert.match(bare, /^\d{10}$/, 'without a version');
    const lone = `GET /update?api_key=${key}&field1=5 HTTP/1.1\r\n`;
    const answer = await exchange(one, [lone], { isEnded: true });
    assert.match(answer, /^HTTP\/1\.1 200 .*\r\n\r\n\d{10}$/s, 'without the empty line');
    const { text } = await one.as('ama')({ path: '/devices/D/sensors/field1/values' });
    assert.deepEqual(
      (JSON.parse(text) as { value: unknown }[]).map(({ value }) => value).toSorted(),
      [21.5, 4, 5].toSorted(),
    );
  }
});

test('a target may have letters as curl and sketches write them', async () => {
  for (const one of Object.values(open)) {
    const key = await keyOf(one, 'ama', { devices: ['D'] });
    const utf8 = (text: string): string => Buffer.from(text).toString('latin1');
    const texts = [utf8('voilà'), 'K\xfcche', '21\xa0\xb0C', utf8('😀'), '\x85'];
    for (const status of texts) {
      const sketch = head(`GET /update?api_key=${key}&status=${status}`);
      const lone = `GET /update?api_key=${key}&status=${status}1\n`;
      const answer = await exchange(one, [push + sketch + withLf(sketch) + push + lone]);
      assert.deepEqual(statuses(answer), ['204', '200', '200', '204'], status);
    }
    const { text } = await one.as('ama')({ path: '/devices/D/sensors/status/values?limit=99' });
    const stored = new Set((JSON.parse(text) as { value: unknown }[]).map(({ value }) => value));
    for (const word of ['voilà', 'Küche', '21\xa0°C', '😀', '…', 'voilà1', 'Küche1']) {
      assert.ok(stored.has(word), word);
    }
    const found = await exchange(one, [
      head(`GET /api/v2/devices?q=id==D;name==${utf8('é')}`),
      last,
    ]);
    assert.deepEqual(statuses(found), ['200', '200']);
    for (const odd of ['\x7f', '\x01', '\t', ' x']) {
      refused(await exchange(one, [head(`GET /update?api_key=${key}&status=a${odd}b`) + push]));
    }
  }
});

test('lone line feeds are read behind the header of a balancer', async () => {
  const answer = await exchange(service('short'), [proxyHeader, withLf(push) + withLf(last)]);
  assert.deepEqual(statuses(answer), ['204', '200']);
});

for (const name of ['short', 'ordinary']) {
  describe(`what the bytes on a connection mean, ${name}`, () => {
    test('requests beyond what may wait are all answered, in their order', async () => {
      const one = service(name);
      for (const text of [push, oddPush, healthz, withLf(push)]) {
        const stored = await storedAt(one);
        const answer = await exchange(one, [text.repeat(500) + last]);
        const status = text === healthz ? '200' : '204';
        assert.deepEqual(statuses(answer), [...Array(500).fill(status), '200']);
        assert.equal(await storedAt(one), stored + (text === healthz ? 0 : 500));
      }
    });

    test('who ends their side of the connection hears all answers', async () => {
      const one = service(name);
      const read = head('GET /api/v2/devices/D');
      for (const text of [push, oddPush, healthz, read, withLf(oddPush)]) {
        for (const times of [1, 100]) {
          const answer = await exchange(one, [text.repeat(times)], { isEnded: true });
          assert.equal(statuses(answer).filter((status) => status < '300').length, times, text);
        }
      }
      refused(await exchange(one, [push.slice(0, -1)], { isEnded: true }));
      refused(await exchange(one, [push.slice(0, 40)], { isEnded: true }));
    });

    test('equal lengths are one, others are refused', async () => {
      const one = service(name);
      const taken = [`2\r\nContent-Length: 2`, '2, 2', '2 , 2\r\ncontent-length:2', ' 2\t'];
      for (const length of taken) {
        const text = push.replace(': 2', `: ${length}`);
        const answer = await exchange(one, [text + withLf(text) + last]);
        assert.deepEqual(statuses(answer), ['204', '204', '200'], length);
      }
      const others = [
        '2\r\nContent-Length: 3',
        '2, 3',
        '2,',
        '+2',
        '2 2',
        '-2',
        '0x2',
        '2\r\n 2',
        '',
      ];
      for (const length of others)
        refused(await exchange(one, [push.replace(': 2', `: ${length}`)]));
      refused(
        await exchange(one, [push.replace('Content', 'Transfer-Encoding: chunked\r\nContent')]),
      );
    });

    test('what two readers could take otherwise is refused, and ends the connection', async () => {
      const one = service(name);
      const stored = await storedAt(one);
      for (const [sign, instead] of [
        ['Host: x', 'Host: x\r\nHost: y'],
        ['Host: x', 'Host: x\r\n folded'],
        ['Host: x', 'Host: x\rX-Y: z'],
        ['Host: x', 'Host: x\r\r\nX-Y: z'],
        ['Host: x', 'Host : x'],
        ['Host: x', 'Host: x\n\tfolded'],
        [' HTTP/1.1', '  HTTP/1.1'],
        ['POST ', 'POST  '],
        ['HTTP/1.1', 'HTTP/2.0'],
        ['HTTP/1.1', 'HTTP/1.2'],
        ['HTTP/1.1', 'http/1.1'],
        [' HTTP/1.1', ''],
        ['Content', 'Transfer-Encoding: identity\r\nX-Content'],
        ['Content', 'Transfer-Encoding: gzip, chunked\r\nX-Content'],
      ] as const) {
        const text = push.replace(sign, instead);
        refused(await exchange(one, [text + push]));
        if (!text.includes('\r\r')) refused(await exchange(one, [withLf(text) + push]));
      }
      assert.equal(await storedAt(one), stored);
    });

    test('a request behind an offer that is not taken up is answered', async () => {
      const upgrade = head('GET /healthz', 'Connection: Upgrade', 'Upgrade: h2c');
      const answer = await exchange(service(name), [
        upgrade + push + upgrade + withLf(push) + last,
      ]);
      assert.deepEqual(statuses(answer), ['200', '204', '200', '204', '200']);
    });

    test('HTTP/1.0 that stays is answered request by request', async () => {
      const one = service(name);
      const old = push.replace('1.1', '1.0');
      const kept = old.replace('Host: x', 'Host: x\r\nConnection: keep-alive');
      const answer = await exchange(one, [kept + withLf(kept) + old + old]);
      assert.deepEqual(statuses(answer), ['204', '204', '204']);
      const read = 'GET /api/v2/devices HTTP/1.0\r\nConnection: keep-alive\r\n\r\n';
      const answers = await exchange(one, [read + read + kept + read + old]);
      assert.deepEqual(statuses(answers), ['200', '200', '204', '200', '204']);
    });

    test('a head of many pieces and one of 16 KiB byte by byte are taken', async () => {
      const long = head('GET /healthz', `X-Long: ${'y'.repeat(15_000)}`);
      const answer = await exchange(service(name), [...withLf(long), last]);
      assert.deepEqual(statuses(answer), ['200', '200']);
      const tooLong = head('GET /healthz', `X-Long: ${'y'.repeat(30_000)}`);
      refused(await exchange(service(name), [withLf(tooLong)]));
    });

    test('empty lines that come alone before a request are skipped', async () => {
      const one = service(name);
      for (const empty of [['\r\n'], ['\r', '\n'], ['\n', '\r', '\n\r\n']]) {
        const answer = await exchange(one, [...empty, push, ...empty, oddPush, ...empty, last]);
        assert.deepEqual(statuses(answer), ['204', '204', '200'], JSON.stringify(empty));
      }
    });

    test('empty lines without end are refused, in whatever packets they come', async () => {
      const one = service(name);
      refused(await exchange(one, ['\r\n'.repeat(50)]));
      refused(
        await exchange(
          one,
          Array.from({ length: 5 }, () => '\r\n'.repeat(8)),
        ),
      );
      const answer = await exchange(one, ['\n'.repeat(60), last]);
      assert.deepEqual(statuses(answer), ['200']);
    });

    test('100-continue is said to a head with lone line feeds', async () => {
      const asking = withLf(head(target, 'Expect: 100-continue', 'Content-Length: 2'));
      const answer = await exchange(service(name), [asking, `21${last}`]);
      assert.deepEqual(statuses(answer), ['100', '204', '200']);
    });

    test('only sketches may leave the version out', async () => {
      for (const path of ['/healthz', '/api/v2/devices/D', '/updates?x', '/']) {
        refused(await exchange(service(name), [`GET ${path}\r\n`]));
      }
      refused(await exchange(service(name), [`POST /update?field1=4\r\n`]));
      // Without the end of the line nobody knows whether the value is whole.
      refused(await exchange(service(name), ['GET /update?api_key=k&field1=4'], { isEnded: true }));
    });
  });
}
