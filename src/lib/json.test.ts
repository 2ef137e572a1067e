import assert from 'node:assert/strict';
import test from 'node:test';
import fc from 'fast-check';
import { asNumber, isBigNumber, JsonError, type JsonValue, parseJson } from './json.ts';
import { sameJson } from './long-json.ts';

const rewritten = (text: string): string => JSON.stringify(parseJson(text));

test('numbers that a double holds stay plain numbers', () => {
  const held = ['0.1', '1.50', '1e2', '0.30000000000000004', '-12.5', '0', '1E+3', '100e-2'];
  held.push('123456789012345', '0.000000000000000000001', '10000000000000000000000', '0e999');
  held.push('5e-324', '1.7976931348623157e308', '1000000000000000000', '0.0');
  for (const literal of held) assert.equal(parseJson(literal), Number(literal), literal);
});

test('numbers that a double would change keep their digits', () => {
  const changed = ['12345678901234567890', '0.1234567890123456789', '9007199254740993'];
  changed.push('-123456789.123456789123', '1e-400', '-1e-400', '0.1000000000000000055511151231');
  changed.push('4.9e-324', '123456789012345678e-300');
  for (const literal of changed) {
    const value = parseJson(literal);
    assert.ok(isBigNumber(value), literal);
    assert.equal(JSON.stringify({ value: [value] }), `{"value":[${literal}]}`);
  }
});

test('minus zero is read as zero, wherever it stands', () => {
  for (const text of ['-0', '-0.0', '-0e5', '-0.000E-7', '-0e999', '-0.00000000000000000000']) {
    assert.ok(Object.is(parseJson(text), 0), text);
    assert.equal(Object.is((parseJson(`{"a":[${text}]}`) as { a: number[] }).a[0], 0), true);
  }
  assert.equal(parseJson('-0.05'), -0.05);
});

test('numbers that overflow are refused with their position', () => {
  assert.throws(() => parseJson('{"value":1e999}'), {
    name: 'JsonError',
    message: 'number too large at character 10',
    position: 9,
  });
  assert.throws(() => parseJson(`-1${'0'.repeat(400)}`), JsonError);
  assert.throws(() => parseJson(`0.${'1'.repeat(2_000)}`), /longer than 1024 characters/);
});

test('text that is not JSON is refused with its position', () => {
  const cases: [string, number, RegExp][] = [
    ['', 0, /^unexpected end at character 1$/],
    ['{"a":}', 5, /^unexpected "}" at character 6$/],
    ['[1,]', 3, /unexpected "]"/],
    ['{"a":1,}', 7, /unexpected "}"/],
    ['[1 2]', 3, /unexpected "2"/],
    ['{"a" 1}', 5, /unexpected "1"/],
    ['{a:1}', 1, /unexpected "a"/],
    ['"abc', 4, /unexpected end/],
    ['"a\nb"', 2, /control character/],
    ['"a\\xb"', 2, /unknown escape/],
    ['"\\u12g4"', 1, /unknown escape/],
    ['NaN', 0, /unexpected "N"/],
    ['Infinity', 0, /unexpected "I"/],
    ['01', 1, /unexpected "1"/],
    ['1.', 1, /unexpected "\."/],
    ['1 😀', 2, /unexpected "😀"/],
    ['nul', 0, /unexpected "n"/],
    ['{"value":25.5} x', 15, /unexpected "x"/],
  ];
  for (const [text, position, message] of cases) {
    assert.throws(
      () => parseJson(text),
      (error) =>
        error instanceof JsonError && error.position === position && message.test(error.message),
      text,
    );
  }
});

test('what is read twice over is the same as what JSON.parse reads', () => {
  // A big number in front sends the whole text to the reader of our own.
  const beside = (text: string): JsonValue =>
    (parseJson(`[12345678901234567890,${text}]`) as JsonValue[])[1] as JsonValue;
  fc.assert(
    fc.property(fc.json(), fc.nat(3), (text, indent) => {
      const pretty = JSON.stringify(JSON.parse(text), null, indent);
      const expected = JSON.stringify(JSON.parse(pretty));
      assert.equal(JSON.stringify(beside(pretty)), expected);
      assert.equal(rewritten(pretty), expected);
    }),
  );
});

/** Whether a number of the text is beyond all doubles, as JSON.parse reads 1e999. */
function hasInfinity(text: string): boolean {
  let isFound = false;
  JSON.parse(text, (_key, value: unknown) => {
    isFound ||= value === Number.POSITIVE_INFINITY || value === Number.NEGATIVE_INFINITY;
    return value;
  });
  return isFound;
}

test('whatever JSON.parse refuses is refused, and nothing but JsonError is thrown', () => {
  const parts = ['{', '}', '[', ']', ',', ':', '"', '\\', 'u00', '1', '-', '0', '.', 'e9', ' '];
  const broken = fc.array(fc.constantFrom(...parts, 'true', 'null', '"a"', '\t', 'é', '\u2028'));
  fc.assert(
    fc.property(broken, (texts) => {
      const text = texts.join('');
      let expected: string | undefined;
      try {
        expected = JSON.stringify(JSON.parse(text));
      } catch {
        assert.throws(() => parseJson(text), JsonError);
        return;
      }
      if (hasInfinity(text)) {
        assert.throws(() => parseJson(text), /number too large/);
        return;
      }
      const value = parseJson(text);
      if (JSON.stringify(value) !== expected) assert.ok(/\d{16}|e\d{2}/.test(text), text);
    }),
    { numRuns: 2_000 },
  );
});

test('every finite double survives writing and reading', () => {
  fc.assert(
    fc.property(fc.double({ noNaN: true, noDefaultInfinity: true }), (double) => {
      assert.equal(parseJson(JSON.stringify(double)), double + 0);
    }),
    { numRuns: 1_000 },
  );
});

test('digits survive reading and writing, whatever their number', () => {
  const literal = fc.stringMatching(/^-?[1-9][0-9]{0,30}(\.[0-9]{0,30}[1-9])?$/);
  fc.assert(
    fc.property(literal, (text) => {
      const written = rewritten(text);
      if (written === text) return;
      // Only the spelling may differ: 1e+21 for a one with 21 zeros.
      assert.ok(!isBigNumber(parseJson(text)));
      assert.equal(BigInt(Number(written)), BigInt(text));
    }),
    { numRuns: 1_000 },
  );
});

test('keys that name parts of a prototype are ordinary keys', () => {
  const text = '{"__proto__":{"admin":true},"constructor":1,"big":12345678901234567890}';
  for (const json of [text, text.replace('12345678901234567890', '1')]) {
    const value = parseJson(json) as Record<string, JsonValue>;
    assert.deepEqual(Object.keys(value), ['__proto__', 'constructor', 'big']);
    assert.equal(Object.getPrototypeOf(value), Object.prototype);
    assert.equal(value['admin'], undefined);
    assert.equal(JSON.stringify(value), json);
  }
});

test('an object that looks like a big number is not one', () => {
  assert.equal(isBigNumber(parseJson('{"rawJSON":"5"}')), false);
  assert.equal(asNumber(parseJson('{"rawJSON":"5"}')), undefined);
});

test('brackets count towards the depth, but not inside strings', () => {
  const exceedsDepth = (text: string, depthMax: number): boolean => {
    try {
      parseJson(text, depthMax);
      return false;
    } catch (error) {
      return error instanceof JsonError && error.problem.startsWith('nested');
    }
  };
  assert.equal(exceedsDepth('[[[]]]', 3), false);
  assert.equal(exceedsDepth('[[[]]]', 2), true);
  assert.equal(exceedsDepth('[[],[],[],{}]', 2), false);
  assert.equal(exceedsDepth('{"a":"[[[[[[","b":"\\"[[[["}', 1), false);
  assert.equal(exceedsDepth('{"a":"\\\\",  "b":[[0]]}', 2), true);
  assert.equal(exceedsDepth('"[[[[', 1), false);
});

test('nesting up to the limit is read and one level more is refused', () => {
  const nested = (depth: number) => '['.repeat(depth) + ']'.repeat(depth);
  assert.equal(rewritten(nested(512)), nested(512));
  assert.throws(() => parseJson(nested(513)), /nested deeper than 512 levels at character 513/);
  assert.throws(() => parseJson('['.repeat(1_000_000)), JsonError);
  assert.equal(JSON.stringify(parseJson(nested(32), 32)), nested(32));
  assert.throws(() => parseJson(nested(33), 32), /32 levels/);
});

test('values are the same when they are written the same', () => {
  assert.ok(sameJson(0, -0));
  assert.ok(sameJson('a', 'a'));
  assert.ok(sameJson({ a: [1, null] }, { a: [1, null] }));
  assert.ok(sameJson(parseJson('12345678901234567890'), parseJson('12345678901234567890')));
  assert.ok(!sameJson(parseJson('12345678901234567890'), parseJson('12345678901234567891')));
  assert.ok(!sameJson(1, '1'));
  assert.ok(!sameJson(null, {}));
  assert.ok(!sameJson([], {}));
  fc.assert(
    fc.property(fc.jsonValue({ maxDepth: 2 }), fc.jsonValue({ maxDepth: 2 }), (a, b) => {
      const expected = JSON.stringify(a) === JSON.stringify(b);
      assert.equal(sameJson(a as JsonValue, b as JsonValue), expected);
      assert.ok(sameJson(a as JsonValue, JSON.parse(JSON.stringify(a))));
    }),
  );
});

test('text that is a number counts as that number, other text does not', () => {
  const numbers: [JsonValue, number][] = [
    [25, 25],
    ['25', 25],
    [' 25.5 ', 25.5],
    ['-3e2', -300],
    ['+7', 7],
    ['.5', 0.5],
    ['5.', 5],
    ['007', 7],
    ['-0', 0],
    [parseJson('-1e-400'), 0],
    [parseJson('12345678901234567890'), Number('12345678901234567890')],
  ];
  for (const [value, expected] of numbers) assert.ok(Object.is(asNumber(value), expected));
  const others: JsonValue[] = ['', ' ', '.', '1e999', '0x10', 'Infinity', 'NaN', '1,5', '1 2'];
  others.push('25C', '--1', 'e5', '1e', '9'.repeat(2_000), true, null, [], [1], {});
  for (const value of others) assert.equal(asNumber(value), undefined, JSON.stringify(value));
});
