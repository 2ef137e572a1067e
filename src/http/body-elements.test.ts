import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import {
  type BodySplitter,
  BrokenBodyError,
  createArraySplitter,
  createLineSplitter,
  type ElementText,
  textOfElement,
} from './body-elements.ts';

const bytesMax = 200;

function split(splitter: BodySplitter, body: Uint8Array, cuts: readonly number[]): ElementText[] {
  const places = [0, ...cuts.toSorted((a, b) => a - b), body.length];
  const elements = places.flatMap((place, index) =>
    splitter.push(body.subarray(places[index - 1] ?? 0, place)),
  );
  return [...elements, ...splitter.end()].map(textOfElement);
}

const cuts = fc.array(fc.nat({ max: 300 }));
const json = fc.jsonValue({ maxDepth: 3, stringUnit: 'grapheme' });
const space = fc.constantFrom('', ' ', '\n\t');

test('the elements of any array come out whole, wherever the body is cut', () => {
  fc.assert(
    fc.property(fc.array(json, { maxLength: 6 }), space, cuts, (elements, gap, places) => {
      const texts = elements.map((element) => JSON.stringify(element));
      const body = Buffer.from(`${gap}[${gap}${texts.join(`,${gap}`)}${gap}]${gap}`);
      const found = split(createArraySplitter(10_000), body, places);
      assert.deepEqual(
        found.map((element) => (typeof element === 'string' ? element.trim() : element)),
        texts,
      );
    }),
    { numRuns: 300 },
  );
});

test('the lines of any body come out whole, wherever it is cut', () => {
  const line = fc.string({ unit: 'grapheme' }).map((text) => text.replaceAll('\n', ''));
  fc.assert(
    fc.property(fc.array(line, { minLength: 1 }), fc.boolean(), cuts, (lines, isEnded, places) => {
      const body = Buffer.from(lines.join('\n') + (isEnded ? '\n' : ''));
      const found = split(createLineSplitter(10_000), body, places);
      const isLastOpen = !isEnded && lines.at(-1) === '';
      assert.deepEqual(found, isLastOpen ? lines.slice(0, -1) : lines);
    }),
    { numRuns: 300 },
  );
});

test('any bytes are split or refused, alike in one piece and byte by byte', () => {
  const byte = fc.constantFrom(...Buffer.from('[]{}",\\a \n1'), 0xff);
  const outcome = (splitter: BodySplitter, body: Uint8Array, places: readonly number[]) => {
    try {
      return split(splitter, body, places);
    } catch (error) {
      assert.ok(error instanceof BrokenBodyError);
      return 'refused';
    }
  };
  fc.assert(
    fc.property(fc.array(byte, { maxLength: 40 }), (bytes) => {
      const body = Uint8Array.from(bytes);
      const everywhere = bytes.map((_, index) => index);
      for (const create of [createArraySplitter, createLineSplitter]) {
        assert.deepEqual(
          outcome(create(bytesMax), body, everywhere),
          outcome(create(bytesMax), body, []),
        );
      }
    }),
    { numRuns: 500 },
  );
});

test('an element a byte beyond the limit is dropped, in one piece or many', () => {
  const [fits, tooLong] = ['x'.repeat(bytesMax), 'x'.repeat(bytesMax + 1)];
  const everywhere = Array.from({ length: 3 * bytesMax }, (_, index) => index);
  const expected = ['a', { problem: 'too large' }, fits];
  for (const places of [[], everywhere]) {
    const lines = Buffer.from(`a\n${tooLong}\n${fits}\n`);
    assert.deepEqual(split(createLineSplitter(bytesMax), lines, places), expected);
    const array = Buffer.from(`[a,${tooLong},${fits}]`);
    assert.deepEqual(split(createArraySplitter(bytesMax), array, places), expected);
  }
});

test('what is no array as a whole is refused', () => {
  for (const body of ['', ' ', '{}', 'null', '[1', '["]', '[1]]', '[1] x', '[{]']) {
    const read = () => split(createArraySplitter(bytesMax), Buffer.from(body), []);
    assert.throws(read, BrokenBodyError, body);
  }
  assert.deepEqual(split(createArraySplitter(bytesMax), Buffer.from('[1,]'), []), ['1', '']);
});
