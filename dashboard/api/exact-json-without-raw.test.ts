// In a process of its own: takes away JSON.rawJSON, which some browsers do not have.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseControlText, textOfValue } from './control-value.ts';
import { parseExact, typedJson } from './exact-json.ts';
import { exact } from './long-numbers.ts';

test('a browser without rawJSON sends the digits that were typed or read', () => {
  Reflect.deleteProperty(JSON, 'rawJSON');
  assert.equal('rawJSON' in JSON, false);
  const digits = '840380235174088835';
  assert.equal(typedJson(digits), digits);
  assert.equal(typedJson(`{"a":[${digits}]}`), `{"a":[${digits}]}`);
  assert.equal(exact.json(parseControlText('number', digits)), `{"value":${digits}}`);
  const text = `{"a":"${digits}","b":[0.12345678901234567890,"x \\" y"],"c":1.5}`;
  assert.equal(exact.json(parseExact(text)), text);
  assert.equal(textOfValue('json', parseExact(text)), text);
});
