import assert from 'node:assert/strict';
import { performance } from 'node:perf_hooks';
import { limits } from '../src/domain/limits.ts';
import { readPushBody } from '../src/http/body.ts';
import { parseJson } from '../src/lib/json.ts';
import { readDatapoints } from '../src/wire/datapoint.ts';

// What reading the body of a push costs, from bytes and as text: node bench/push-body.ts [rounds]

const rounds = Number(process.argv[2] ?? 9);
const bodiesPerRound = 200_000;
const start = Date.parse('2026-01-01T00:00:00Z');

function bodiesWith(hasTimestamp: boolean): readonly Buffer[] {
  return Array.from({ length: 1_000 }, (_, n) => {
    const timestamp = new Date(start + n * 61_234).toISOString();
    const value = (20 + (n % 97) / 10).toFixed(1);
    return Buffer.from(
      hasTimestamp ? `{"value":${value},"timestamp":"${timestamp}"}` : `{"value":${value}}`,
    );
  });
}

const fromBytes = (body: Buffer): unknown => {
  const read = readPushBody(body, 'application/json');
  return read.kind === 'plain' ? read.datapoint : assert.fail('it was left to the ordinary reader');
};
const asText = (body: Buffer): unknown =>
  readDatapoints(parseJson(body.toString('utf8'), limits.jsonDepthMax)).datapoints.at(0);

/** Microseconds for a body. */
function measure(read: (body: Buffer) => unknown, bodies: readonly Buffer[]): number {
  const startedAt = performance.now();
  let count = 0;
  while (count < bodiesPerRound) {
    for (const body of bodies) if (read(body) !== undefined) count += 1;
  }
  return ((performance.now() - startedAt) * 1_000) / count;
}

for (const hasTimestamp of [false, true]) {
  const bodies = bodiesWith(hasTimestamp);
  for (const body of bodies) assert.deepEqual(fromBytes(body), asText(body));
  const [bytes, text]: [number[], number[]] = [[], []];
  for (let round = 0; round < rounds; round += 1) {
    bytes.push(measure(fromBytes, bodies));
    text.push(measure(asText, bodies));
  }
  const median = (all: number[]) => all.toSorted((a, b) => a - b)[all.length >> 1]?.toFixed(3);
  const what = hasTimestamp ? 'value and timestamp' : 'value alone';
  process.stdout.write(`${what}: ${median(bytes)} µs from bytes, ${median(text)} µs as text\n`);
}
