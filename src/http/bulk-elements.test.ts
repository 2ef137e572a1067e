import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { linesOfStep } from '../../test/bulk-lines.ts';
import { BulkStep } from '../domain/datapoints/bulk-step.ts';
import { readBulkLine } from '../wire/bulk.ts';
import { v2Spelling } from '../wire/spelling.ts';
import { createArraySplitter, createLineSplitter } from './body-elements.ts';
import { createBulkElementReader, isEmptyLine } from './bulk-feed.ts';

const bytesMax = 10_000;
const number = fc.oneof(fc.double({ noNaN: true, noDefaultInfinity: true }), fc.integer());
const element = fc.oneof(
  {
    weight: 4,
    arbitrary: number.map((value) =>
      JSON.stringify({ device_id: 'd', sensor_id: 's', value, timestamp: '2016-06-08T18:20:27Z' }),
    ),
  },
  { weight: 1, arbitrary: fc.string({ unit: 'grapheme' }).map((text) => JSON.stringify(text)) },
  fc.constantFrom(
    '{"device_id":"é","sensor_id":"s","value":"a,b]}"}',
    '{"device_id":"d","sensor_id":"s","value":12345678901234567890}',
    '{"value":1,"sensor_id":"s","device_id":"d","value":-0}',
    `{"device_id":"d","sensor_id":"s","value":"${'x'.repeat(3_000)}"}`,
  ),
);

test('lines and elements are read alike, wherever the body is cut', () => {
  const cuts = fc.array(fc.nat({ max: 2_000 }));
  fc.assert(
    fc.property(fc.array(element, { minLength: 1, maxLength: 8 }), cuts, (texts, places) => {
      const expected = texts.map((text, index) => readBulkLine(text, index + 1));
      const bodies = [
        { splitter: createLineSplitter(bytesMax), text: `${texts.join('\r\n')}\n` },
        { splitter: createArraySplitter(bytesMax), text: `[${texts.join(', ')}]` },
      ];
      for (const { splitter, text } of bodies) {
        const body = Buffer.from(text);
        const read = createBulkElementReader(v2Spelling);
        const ends = [...places.toSorted((a, b) => a - b), body.length];
        const elements = ends.flatMap((end, index) =>
          splitter.push(body.subarray(ends[index - 1] ?? 0, end)),
        );
        const step = new BulkStep();
        [...elements, ...splitter.end()].forEach((one, index) => {
          read(one, index + 1, step);
        });
        assert.deepStrictEqual(linesOfStep(step), expected);
      }
    }),
    { numRuns: 300 },
  );
});

test('usual lines that are cut at any byte are read as they are in one piece', () => {
  const line =
    '{"device_id":"d","sensor_id":"s","value":-12.5e1,"timestamp":"2016-06-08T18:20:27Z"}';
  const body = Buffer.from(`${line}\n\r\n${line}\n`);
  const readAll = (places: readonly number[]) => {
    const splitter = createLineSplitter(bytesMax);
    const read = createBulkElementReader(v2Spelling);
    const ends = [...places, body.length];
    const step = new BulkStep();
    const empty = ends
      .flatMap((end, index) => splitter.push(body.subarray(ends[index - 1] ?? 0, end)))
      .filter((one, index) => isEmptyLine(one) || read(one, index + 1, step));
    return [empty.length, ...linesOfStep(step)];
  };
  const expected = [1, readBulkLine(line, 1), readBulkLine(line, 3)];
  for (let place = 0; place <= body.length; place += 1) {
    assert.deepStrictEqual(readAll([place]), expected, `cut at ${place}`);
  }
});
