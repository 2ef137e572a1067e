import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { type Service, startService } from '../service.ts';
import { openSensor, refusalOf, valuesOf } from './sensor-endpoint.ts';

let service: Service;

before(async () => {
  service = await startService();
});

after(() => service[Symbol.asyncDispose]());

for (const to of ['value', 'values'] as const) {
  const push = async (text: string | Uint8Array, type?: string) => {
    const sensor = await openSensor(service);
    const path = `${sensor.path}/${to}`;
    const content = type === undefined ? 'application/json' : type;
    // A text would say that it is text/plain.
    const body = content === '' ? Buffer.from(text as string) : text;
    const reply = await service.call({ method: 'POST', path, body, type: content });
    assert.equal(reply.status, 204, reply.text);
    assert.equal(reply.text, '');
    return valuesOf(await sensor.all());
  };

  test(`${to} takes one object with a value`, async () => {
    assert.deepEqual(await push('{"value":"25"}'), ['25']);
    assert.deepEqual(await push('{"value":null}'), [null]);
    assert.deepEqual(await push('{"value":25,"unit":"ignored"}'), [25]);
  });

  test(`${to} takes an array of objects and keeps each of them`, async () => {
    assert.deepEqual(await push('[{"value":1},{"value":[2,3]},{"value":null}]'), [1, [2, 3], null]);
  });

  test(`${to} takes a bare JSON value`, async () => {
    for (const value of [25, -0.5, 'warm', '', true, false, [1, 2.5, -3], [[]]]) {
      assert.deepEqual(await push(JSON.stringify(value)), [value]);
    }
  });

  test(`${to} stores text/plain as a string, whatever it looks like`, async () => {
    for (const text of ['25', '{"value":1}', 'true', '[1,2]', 'warm, rather', ' 7']) {
      assert.deepEqual(await push(text, 'text/plain'), [text]);
      assert.deepEqual(await push(text, 'text/plain;charset=utf-8'), [text]);
    }
  });

  test(`${to} reads a body in the Windows-1252 that its content type names`, async () => {
    const bytes = (text: string) => Buffer.from(text, 'latin1');
    for (const charset of ['iso-8859-1', 'ISO-8859-1', '"windows-1252"', 'latin1', 'cp1252']) {
      const named = `;charset=${charset}`;
      assert.deepEqual(await push(bytes('21 \xb0C \x80'), `text/plain${named}`), ['21 °C €']);
      const json = bytes('{"value":"Z\xfcrich"}');
      assert.deepEqual(await push(json, `application/json ${named}`), ['Zürich']);
      assert.deepEqual(await push('é', `text/plain${named}`), ['é'], 'UTF-8 all the same');
    }
  });

  test(`${to} drops a byte order mark before a body, NULs and white space after it`, async () => {
    for (const type of ['application/json', 'text/plain', '']) {
      const text = type === 'text/plain' ? '21.5' : 21.5;
      assert.deepEqual(await push('\u{feff}21.5\0\0', type), [text]);
      assert.deepEqual(await push('21.5 \0\r\n\0', type), [text]);
      assert.deepEqual(await push(`\u{feff}hot${' '.repeat(200_000)}`, type), ['hot']);
    }
    const array = '\u{feff}[{"value":1},{"value":2}]\r\n\0\0';
    assert.deepEqual(await push(array), [1, 2]);
    const long = array.replace(',', `,${'{"value":1},'.repeat(20_000)}`);
    assert.equal((await push(long)).length > 2, true);
    assert.deepEqual(await push('\u{feff}{"value": 21.5}\0\0'), [21.5]);
  });

  test(`${to} takes bare values by one rule`, async () => {
    assert.deepEqual(await push('0264.342'), ['0264.342']);
    assert.deepEqual(await push('007'), ['007']);
    assert.deepEqual(await push('12E3'), [12_000]);
    assert.deepEqual(await push('12E3', ''), ['12E3']);
    assert.deepEqual(await push('1e5', ''), [100_000]);
    const sensor = await openSensor(service);
    const path = `${sensor.path}/${to}`;
    for (const type of ['application/json', '']) {
      for (const text of ['-nan', 'Infinity', '1.#INF', '\0', ' ']) {
        const body = Buffer.from(text);
        const { status } = await service.call({ method: 'POST', path, body, type });
        assert.equal(status, 400, text);
      }
    }
  });

  test(`${to} takes unquoted text under a JSON content type as that text`, async () => {
    assert.deepEqual(await push('warm'), ['warm']);
    assert.deepEqual(await push('12 degrees'), ['12 degrees']);
  });

  test(`${to} reads a value like ${to === 'value' ? 'values' : 'value'} does`, async () => {
    const sensor = await openSensor(service);
    await sensor.push([{ value: 1 }, { value: 2 }]);
    const reply = await service.call({ path: `${sensor.path}/${to}` });
    assert.deepEqual(valuesOf(await sensor.all()), [1, 2]);
    assert.equal(reply.text, (await sensor.read()).text);
  });
}

test('a push without a content type is read as JSON or else as text', async () => {
  const sensor = await openSensor(service);
  const path = `${sensor.path}/value`;
  for (const text of ['{"value":7}', 'lukewarm']) {
    const body = new TextEncoder().encode(text);
    const reply = await service.call({ method: 'POST', path, body, type: '' });
    assert.equal(reply.status, 204, reply.text);
  }
  assert.deepEqual(valuesOf(await sensor.all()), [7, 'lukewarm']);
});

test('every JSON value comes back as the text it was, to the last digit', async () => {
  const texts = [
    '12345678901234567890',
    '-12345678901234567890',
    '0.1000000000000000055',
    '-0.5',
    '9007199254740993',
    '[12345678901234567890,1]',
    '{"big":{"deep":[0.1000000000000000055]}}',
    '{"__proto__":{"admin":true},"constructor":1}',
    '{"sensors":[{"id":"x"}],"measurements":2}',
    '{"value":{"value":1},"timestamp":"not one"}',
    '{}',
    '[]',
    '"grüße, здравствуй, 测量, 🌡️, \\u0000"',
    '"\\ud800"',
    '"\\udc00 \\ud800x"',
    '"\\u2028"',
  ];
  for (const text of texts) {
    const sensor = await openSensor(service);
    const reply = await sensor.send(`{"value":${text}}`);
    assert.equal(reply.status, 204, `${text}: ${reply.text}`);
    const read = (await sensor.read()).text;
    const shown = /"value":(.*),"date_received"/s.exec(read)?.[1];
    assert.ok(shown !== undefined, read);
    assert.equal(normalised(shown), normalised(text));
    const whole = (await service.call({ path: sensor.path })).text;
    assert.ok(whole.includes(`"value":${shown}`), `${whole} must hold ${shown} as last value`);
  }
});

/** JSON text with escapes and spaces spelled one way, numbers as they stand. */
function normalised(json: string): string {
  return json.replace(/"(?:[^"\\]|\\.)*"/gs, (literal) => JSON.stringify(JSON.parse(literal)));
}

test('an empty array is accepted and stores nothing', async () => {
  const sensor = await openSensor(service);
  await sensor.push([]);
  assert.deepEqual(await sensor.all(), []);
  assert.deepEqual(await sensor.get(), { id: 'TC1' });
});

test('a push without a value is refused and stores nothing', async () => {
  const sensor = await openSensor(service);
  const bodies = ['{}', '{"timestamp":"2016-06-08T18:20:27Z"}', '{"Value":1}', ''];
  for (const body of bodies) {
    assert.match(refusalOf(await sensor.send(body), 400, 'invalid'), /value/);
  }
  refusalOf(await sensor.send('', { type: 'text/plain' }), 400, 'invalid');
  assert.deepEqual(await sensor.all(), []);
});

test('one bad element is refused alone, and an array of bad ones as a whole', async () => {
  const sensor = await openSensor(service);
  const bad = ['{}', '7', 'null', '[]', '{"value":1,"timestamp":"soon"}'];
  for (const element of bad) {
    const reply = await sensor.send(`[{},${element},null]`);
    assert.match(refusalOf(reply, 400, 'invalid'), /datapoint 1\b/);
  }
  assert.deepEqual(await sensor.all(), []);
  for (const [at, element] of bad.entries()) {
    const reply = await sensor.send(`[{"value":${at}},${element},{"value":"${at}"}]`);
    assert.equal(reply.headers.get('x-refused'), '1');
  }
  assert.equal((await sensor.all()).length, 2 * bad.length);
});

test('what is no JSON, no number or no UTF-8 is refused and stores nothing', async () => {
  const sensor = await openSensor(service);
  for (const body of ['{"value":', '{"value":NaN}', '{"value":1e999}', '[1,', 'NaN', '"open']) {
    refusalOf(await sensor.send(body), 400, 'invalid');
  }
  const broken = Uint8Array.from([0x22, 0xff, 0xfe, 0x22]);
  refusalOf(await sensor.send(broken), 400, 'invalid');
  refusalOf(await sensor.send('<value>1</value>', { type: 'text/xml' }), 415, unsupported);
  assert.deepEqual(await sensor.all(), []);
});

const unsupported = 'unsupported_media_type';

test('an unknown device or sensor is 404 for a push and for a read', async () => {
  const { deviceId } = await openSensor(service);
  for (const path of [`/devices/${deviceId}/sensors/TC2`, '/devices/nowhere/sensors/TC1']) {
    for (const word of ['value', 'values']) {
      const pushed = { method: 'POST', path: `${path}/${word}`, json: { value: 1 } };
      refusalOf(await service.call(pushed), 404, 'not_found');
      refusalOf(await service.call({ path: `${path}/${word}` }), 404, 'not_found');
    }
  }
});

test('a last value is shown under both names, and no value under neither', async () => {
  const sensor = await openSensor(service, { id: 'TC1', name: 'air' });
  assert.deepEqual(await sensor.get(), { id: 'TC1', name: 'air' });
  await sensor.push({ value: 21.5, timestamp: '2016-06-08T18:20:27.873Z' });
  const shown = await sensor.get();
  const { date_received: received, ...lastValue } = shown['value'] as Record<string, unknown>;
  assert.deepEqual(lastValue, { value: 21.5, timestamp: '2016-06-08T18:20:27.873Z' });
  assert.match(String(received), /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
  assert.deepEqual(shown['last_value'], shown['value']);
  const device = await service.call({ path: `/devices/${sensor.deviceId}` });
  assert.deepEqual((device.json as { sensors: unknown[] }).sensors, [shown]);
});

test('a private device takes values from its owner and refuses strangers and guests', async () => {
  const ama = service.as('ama');
  const json = { id: 'greenhouse', visibility: 'private', sensors: [{ id: 'TC1' }] };
  assert.equal((await ama({ method: 'POST', path: '/devices', json })).status, 204);
  const push = { method: 'POST', path: '/devices/greenhouse/sensors/TC1/value', json: 19 };
  assert.equal((await ama(push)).status, 204);
  for (const stranger of [service.as('kofi'), service.as('guest')]) {
    refusalOf(await stranger(push), 403, 'forbidden');
    refusalOf(await stranger({ path: `${push.path}s` }), 403, 'forbidden');
  }
  assert.deepEqual(valuesOf((await ama({ path: push.path })).json as never), [19]);
});
