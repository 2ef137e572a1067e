// In a process of its own: it watches what all of the process reads and writes as JSON.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { cellJson } from '../../src/lib/csv-cell.ts';
import { startService } from '../service.ts';

const mebibyte = 1_048_576;
const quarter = mebibyte / 4;
/** Beyond what a value may have by default, and what is looked at of it at once. */
const charactersAtOnceMax = 65_536;

/** As they were pushed when a value had no limit of its own. */
const values: Readonly<Record<string, string>> = {
  plain: JSON.stringify('x'.repeat(quarter)),
  escaped: JSON.stringify('"\n'.repeat(quarter)),
  wide: JSON.stringify('ü→😀'.repeat(100_000)),
  formula: JSON.stringify(`=${'1+'.repeat(quarter)}1`),
  numbers: `[${'12,'.repeat(quarter)}1]`,
  objects: `[${'{"a":1},'.repeat(80_000)}{}]`,
};

/** The longest text that was read or written as JSON at once since it was asked for last. */
function watchJson(): { longest(): number; [Symbol.dispose](): void } {
  const { parse, stringify } = JSON;
  let longest = 0;
  const see = (text: unknown): void => {
    if (typeof text === 'string' && text.length > longest) longest = text.length;
  };
  JSON.parse = (text, reviver) => {
    see(text);
    return parse(text, reviver);
  };
  JSON.stringify = ((...given: Parameters<typeof stringify>) => {
    const text = stringify(...given);
    see(text);
    return text;
  }) as typeof stringify;
  return {
    longest() {
      const seen = longest;
      longest = 0;
      return seen;
    },
    [Symbol.dispose]() {
      Object.assign(JSON, { parse, stringify });
    },
  };
}

test('a long value of an old database is handed on unread, whatever asks for it', async () => {
  await using service = await startService({
    environment: { KIPIMO_VALUE_BYTES_MAX: String(8 * mebibyte) },
  });
  for (const [id, value] of Object.entries(values)) {
    const json = { id, sensors: [{ id: 's' }] };
    assert.equal((await service.call({ method: 'POST', path: '/devices', json })).status, 204);
    const path = `/devices/${id}/sensors/s/value`;
    const body = `{"value":${value},"timestamp":"2026-01-01T00:00:00Z"}`;
    const type = 'application/json';
    assert.equal((await service.call({ method: 'POST', path, body, type })).status, 204);
  }
  using json = watchJson();
  const read = async (path: string): Promise<string> => {
    const response = await fetch(`${service.url}/api/v2${path}`);
    assert.equal(response.status, 200);
    const text = await response.text();
    const longest = json.longest();
    assert.ok(longest <= charactersAtOnceMax, `${path}: ${longest} characters at once`);
    return text;
  };
  for (const [id, value] of Object.entries(values)) {
    const sensor = `/devices/${id}/sensors/s`;
    const inJson = [
      ...[`${sensor}/value`, `${sensor}/values?limit=1000000`, `${sensor}/value?raw=true`],
      ...[`/sensors_data?device_id=${id}`, `${sensor}/values?aggregate=first`],
      ...[sensor, `/devices/${id}`, `/devices/${id}/sensors`, `/devices?q=id==${id}`],
    ];
    for (const path of inJson) assert.ok((await read(path)).includes(`:${value}`), path);
    const inCsv = [
      ...[`${sensor}/values?format=csv`, `${sensor}/values?format=csv&limit=1000000`],
      ...[`/devices/${id}/export`, `${sensor}/values?aggregate=first&format=csv`],
    ];
    for (const path of inCsv) {
      const text = await read(path);
      const quoted = text.slice(text.indexOf('"') + 1, text.lastIndexOf('"'));
      const cell = { text: quoted.replaceAll('""', '"'), isQuoted: true };
      assert.equal(cellJson(cell, false), value, path);
      json.longest();
    }
    assert.equal(await read(`${sensor}/values?points=10`), '[]');
    assert.equal(await read(`/devices?q=id==${id};s==5`), '[]');
  }
  assert.match(await read('/devices?q=s==12'), /"id":"numbers"/);
  assert.match(await read("/devices?q=s>'ü'"), /"id":"wide"/);
});
