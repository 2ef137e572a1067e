import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createPointSplitter } from './point-splitter.ts';

test('empty lines of a piece are one element, and those behind keep their numbers', () => {
  const splitter = createPointSplitter(1_000);
  const elements = [
    ...splitter.push(Buffer.from(`a v=1\n${'\n'.repeat(9_999)}b v=1\n\nc`)),
    ...splitter.push(Buffer.from(' v=1\n\n\n')),
    ...splitter.push(Buffer.from('\nd v=1')),
    ...splitter.end(),
  ];
  let line = 0;
  const numbered = elements.map((element) => {
    line += 1;
    if (!('bytes' in element)) return 'a problem';
    const said = `${line}: ${element.bytes.toString('latin1', element.start, element.end)}`;
    line += element.feeds ?? 0;
    return said;
  });
  const expected = ['1: a v=1', '2: ', '10001: b v=1', '10002: ', '10003: c v=1'];
  assert.deepEqual(numbered, [...expected, '10004: ', '10006: ', '10007: d v=1']);
});
