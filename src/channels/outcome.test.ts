import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc, { property, string } from 'fast-check';
import { channelLimits } from './limits.ts';
import { pauseOf, sanitized } from './outcome.ts';

const now = Date.UTC(2026, 0, 1);

for (const [header, pauseMs] of [
  ['7', 7_000],
  [' 0 ', 0],
  ['999999', channelLimits.pauseMsMax],
  ['Thu, 01 Jan 2026 00:00:30 GMT', 30_000],
  ['Wed, 31 Dec 2025 00:00:00 GMT', 0],
  ['soon', undefined],
  ['-5x', undefined],
  ['', undefined],
] as const) {
  test(`Retry-After "${header}" asks for ${pauseMs} ms`, () => {
    assert.equal(pauseOf(header, now), pauseMs);
  });
}

for (const [words, shown] of [
  ["The 'To' number +255 712 345 678 is not valid", "The 'To' number … is not valid"],
  ['@ama takes none; ask ama@example.org', '… takes none; ask …'],
  ['see https://example.org/x?key=1 now', 'see … now'],
  ['key AC0123456789abcdef0123456789abcdef is wrong', 'key … is wrong'],
  ['line\r\nSet-Cookie: x', 'line Set-Cookie: x'],
] as const) {
  test(`a provider's "${words.slice(0, 20)}…" is shown without what is private`, () => {
    assert.equal(sanitized(words), shown);
  });
}

test('what a provider says is short and on one line, whatever it is', () => {
  fc.assert(
    property(string({ unit: 'binary', maxLength: 2_000 }), (words) => {
      const shown = sanitized(words);
      assert.ok(shown.length <= channelLimits.reasonCharactersMax);
      assert.doesNotMatch(shown, /\p{Cc}/u);
    }),
  );
});
