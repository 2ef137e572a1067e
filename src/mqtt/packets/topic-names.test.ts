import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { isTopicName } from '../../lib/topic-filter.ts';
import { mqttLimits } from '../limits.ts';
import { readText } from './properties.ts';
import { longTopic, readTopicName } from './topic-names.ts';

/** The name as a reader without a memory reads it. */
function plainly(bytes: Buffer): string {
  const name = readText(bytes, 0, bytes.length);
  if (name !== '' && !isTopicName(name)) throw new Error('a wildcard');
  const levels = name.split('/').length;
  const isLong = bytes.length > mqttLimits.topicBytesMax || levels > mqttLimits.topicLevelsMax;
  return isLong ? longTopic : name;
}

function outcomeOf(read: () => string): string | undefined {
  try {
    return read();
  } catch {
    return undefined;
  }
}

// Few letters, so that names come again, and so that one differs from another in a byte.
const level = fc.string({
  unit: fc.constantFrom('a', 'b', 'é', '😀', '+', '#', '\n'),
  maxLength: 3,
});
const names = fc.oneof(
  fc
    .array(level, { minLength: 1, maxLength: mqttLimits.topicLevelsMax + 2 })
    .map((all) => Buffer.from(all.join('/'))),
  fc.integer({ min: 90, max: 102 }).map((length) => Buffer.from('a'.repeat(length))),
  fc
    .integer({ min: mqttLimits.topicBytesMax - 2, max: mqttLimits.topicBytesMax + 2 })
    .map((length) => Buffer.from('a'.repeat(length))),
  fc.uint8Array({ maxLength: 4 }).map((bytes) => Buffer.from(bytes)),
);

test('a remembered name is the one that its bytes say, wherever they stand', () => {
  fc.assert(
    fc.property(fc.array(names, { maxLength: 20 }), fc.nat(5), (all, before) => {
      for (const bytes of [...all, ...all]) {
        const packet = Buffer.concat([Buffer.alloc(before, 'x'), bytes, Buffer.from('y')]);
        const said = outcomeOf(() => readTopicName(packet, before, before + bytes.length));
        assert.equal(
          said,
          outcomeOf(() => plainly(bytes)),
        );
      }
    }),
    { numRuns: 300 },
  );
});

test('names whose bytes hash to one place are told apart', () => {
  // As many names as there are places, and more: some share one.
  const all = Array.from({ length: 10_000 }, (_, at) => Buffer.from(`devices/${at}/x`));
  for (const bytes of [...all, ...all.toReversed()]) {
    assert.equal(readTopicName(bytes, 0, bytes.length), bytes.toString());
  }
});
