import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readCode } from './code-text.ts';
import { readSourceFiles } from './source-files.ts';

// Ids and names of people are looked up in a Map or after Object.hasOwn: `{}["constructor"]` is a
// function, and `{}["__proto__"]` an object, whatever was put into the record.

/** Records whose keys are never a client's text, by file: which, and whose words they are. */
const ownWords: ReadonlyMap<string, readonly string[]> = new Map([
  ['dashboard/api/profile.ts', ['message']], // fields of the API
  ['dashboard/i18n/i18n.ts', ['table', 'fallback']], // names of messages
  ['dashboard/charts/sensor-chart.tsx', ['cursorKeys']], // names of keys on a keyboard
  ['tools/cloud/listing.ts', ['thing', 'picked']], // fields of the API
  ['src/config/config.ts', ['environment']], // declared keys
  ['src/config/config-kinds.ts', ['totals']], // names of budgets
  ['src/http/answer-headers.ts', ['headers']], // headers of ours
  ['src/http/fast-path/reader.ts', ['params']], // parameters of routes
  ['src/http/v1/dictionary.ts', ['words']], // words that a pattern of ours found
  ['src/http/v1/translate.ts', ['renamed', 'params']], // parameters of routes
  ['src/http/v2/sharing.ts', ['params']], // parameters of routes
  ['src/lib/json.ts', ['object']], // sets "__proto__" as its own
  ['src/mqtt/broker/message-queue.ts', ['dropped']], // reasons of ours
  ['src/mqtt/broker/outbound.ts', ['dropped']], // reasons of ours
  ['src/storage/sql/table.ts', ['row', 'thing']], // columns and fields of ours
  ['src/wire/thing-speak.ts', ['shortNames']], // names of ours
  ['src/wire/validation.ts', ['cleaned', 'query', 'raw']], // fields of our schemas
  ['src/channels/provider-url.ts', ['found']], // settings that the provider's list names
  ['src/channels/voice/http-voice.ts', ['escapes']], // one character
  ['src/channels/sms/sms-text.ts', ['plainSigns']], // one character
]);

const declared = /\b(\w+)\??:\s*(?:Readonly<|Partial<)*Record<(?:string|\w+Id|Username)\s*,/g;

const declaredNames = (bare: string): readonly string[] =>
  [...bare.matchAll(declared)].map(([, name = '']) => name);

/** `fields` are records that any file may look into. */
function uncheckedLookUps(
  { path, bare }: { readonly path: string; readonly bare: string },
  fields: readonly string[],
): readonly string[] {
  const known = ownWords.get(path) ?? [];
  const names = new Set([...fields, ...declaredNames(bare)]);
  return bare.split('\n').flatMap((line, index) =>
    [...line.matchAll(/(\w+)(?:\?\.)?\[\s*([^\s\]'"`])/g)].flatMap(([, name = '', first = '']) => {
      const isLookUp = names.has(name) && !known.includes(name) && !/\d/.test(first);
      return isLookUp && !line.includes('Object.hasOwn(')
        ? [`${path}:${index + 1} looks into ${name} by a text: use a Map or ownEntry`]
        : [];
    }),
  );
}

test('no text of a client is a key of a plain object', () => {
  const patterns = ['src/**/*.ts', 'tools/**/*.ts', 'dashboard/**/*.ts', 'dashboard/**/*.tsx'];
  const files = readSourceFiles(patterns)
    .filter(({ path }) => !path.endsWith('.test.ts'))
    .map(({ path, text }) => ({ path, bare: readCode(text).bare }));
  const fields = files
    .filter(({ path }) => path.startsWith('src/domain/'))
    .flatMap(({ bare }) => declaredNames(bare));
  assert.deepEqual(
    files.flatMap((file) => uncheckedLookUps(file, fields)),
    [],
  );
});

test('a look-up in a record by a text is found', () => {
  const text = 'const seen: Record<SensorId, number> = {};\nf(state.seen?.[sensorId], seen[0]);\n';
  assert.equal(uncheckedLookUps({ path: 'src/x.ts', bare: text }, []).length, 1);
  assert.equal(uncheckedLookUps({ path: 'src/y.ts', bare: 'seen[id]' }, ['seen']).length, 1);
});
