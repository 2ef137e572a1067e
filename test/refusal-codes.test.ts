import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { refusals as en } from '../dashboard/i18n/en/refusals.ts';
import { refusals as fr } from '../dashboard/i18n/fr/refusals.ts';
import { blanksOf } from '../dashboard/i18n/messages.ts';
import { refusals as pt } from '../dashboard/i18n/pt/refusals.ts';
import { createRefusalSentences } from '../dashboard/i18n/refusal-sentences.ts';
import { refusals as sw } from '../dashboard/i18n/sw/refusals.ts';
import { errorCodes } from '../src/domain/errors.ts';
import { edgeErrorCodes } from '../src/http/errors.ts';
import { codeOf } from '../src/wire/refusal-code.ts';
import { refusalPatterns } from '../src/wire/refusal-patterns.ts';
import { readCode } from './code-text.ts';
import { readSourceFiles } from './source-files.ts';

const languages = Object.entries({ en, fr, sw, pt });
const kinds = Object.keys({ ...errorCodes, ...edgeErrorCodes });

/** Parameters that the dashboard adds: the sentence itself, and what a line was refused for. */
const added = ['description', 'reason'];

test('every code of a refusal has a sentence in four languages, with its parameters alone', () => {
  const codes = [...Object.keys(refusalPatterns), ...kinds].sort();
  for (const [language, { sentences, words }] of languages) {
    assert.deepEqual(Object.keys(sentences).sort(), codes, language);
    assert.deepEqual(Object.keys(words).sort(), Object.keys(en.words).sort(), language);
    for (const [code, sentence] of Object.entries(sentences)) {
      const patterns: readonly string[] = Object.hasOwn(refusalPatterns, code)
        ? refusalPatterns[code as keyof typeof refusalPatterns]
        : [];
      const known = new Set([...added, ...patterns.flatMap(blanksOf)]);
      assert.deepEqual(
        blanksOf(sentence).filter((name) => !known.has(name)),
        [],
        `${language}: ${code}`,
      );
    }
  }
});

/** Where only programs are refused: their sentences keep the code of their kind. */
const ofPrograms = [
  // Logged alone: nobody is answered.
  /^src\/channels\/code-sender/,
  /^src\/(?!http|domain|wire|channels|mqtt\/payload)/,
  /^src\/http\/(compatible|v1|call-answers|operations|server|route)/,
  /^src\/(wire\/(line-|thing-speak)|domain\/devices\/query-parser)/,
];

/** Sentences that clients with a mistake in their program get, and no person at the dashboard. */
const forPrograms = [/^across/, /^aggregate/, /^interval/, /^points/, /^device_id/, /^sensor_id/];

const makers =
  'invalid|conflict|forbidden|notFound|blocked|gone|limitReached|full|refused|retry|' +
  'ClockAheadError';
/** Refusals of these kinds are said by their kind, with how long to wait. */
const ofKind = 'unavailable|rate_limited';
const thrown = new RegExp(
  `\\b(?:(?:${makers})\\(|DomainError\\(\\s*'(?!${ofKind})\\w+',|refusal:)\\s*(['\`])`,
  'g',
);

/** The sentences that a file refuses with, `{}` being what it puts into them. */
function sentencesIn({ path, text }: { readonly path: string; readonly text: string }) {
  const { withoutComments: code } = readCode(text);
  return [...code.matchAll(thrown)].map((found) => {
    let at = found.index + found[0].length - 1;
    let sentence = '';
    for (;;) {
      const quote = code[at] ?? '';
      const end = endOf(code, at, quote);
      sentence += code.slice(at + 1, end).replace(/\$\{[^}]*\}/g, '§');
      const joined = /^\s*\+\s*(['`])/.exec(code.slice(end + 1));
      if (joined === null) return { path, sentence };
      at = end + joined[0].length;
    }
  });
}

function endOf(code: string, at: number, quote: string): number {
  let end = at + 1;
  while (code[end] !== quote && end < code.length) end += code[end] === '\\' ? 2 : 1;
  return end;
}

test('every sentence that people are refused with has a code of its own', () => {
  const said = readSourceFiles(['src/**/*.ts'])
    .filter(({ path }) => !path.endsWith('.test.ts'))
    .filter(({ path }) => !ofPrograms.some((pattern) => pattern.test(path)))
    .flatMap(sentencesIn);
  assert.ok(said.length > 120, `found ${said.length}`);
  const without = said
    .filter(({ sentence }) => sentence.replaceAll('§', '') !== '')
    .filter(({ sentence }) => !forPrograms.some((pattern) => pattern.test(sentence)))
    .filter(
      ({ sentence }) => codeOf(sentence.replaceAll('§', '1').replaceAll("\\'", "'")) === undefined,
    );
  assert.deepEqual(without, []);
});

test('a code is found with what the sentence names, within other sentences too', () => {
  assert.deepEqual(codeOf('the username ama is taken'), {
    code: 'username_taken',
    params: { name: 'ama' },
  });
  assert.deepEqual(codeOf('given up after 5 tries: ama has no telephone number in the profile'), {
    code: 'recipient_no_address',
    params: { tries: '5 tries', name: 'ama', what: 'telephone number' },
  });
  assert.deepEqual(codeOf('line 3: the value abc is no number: send nothing when a probe fails'), {
    code: 'value_not_a_number',
    params: { line: 3, value: 'abc' },
  });
  assert.equal(codeOf('nothing that anybody says'), undefined);
  assert.equal(codeOf(`the username ${'x'.repeat(5_000)} is taken`), undefined);
});

test('a date that cannot be read is told with what was read, and how to write it', () => {
  const read = 'timestamp must be an ISO 8601 date such as 2016-06-08T18:20:27.873Z, got "1/2/26"';
  for (const [language, refusals] of languages) {
    const { ofService } = createRefusalSentences(refusals);
    assert.match(ofService(read), /"1\/2\/26".*2026-03-20 15:00/, language);
    assert.doesNotMatch(ofService('expires must be a date such as 2030-01-31'), /[{}]/, language);
  }
});

test('whatever a sentence holds, it is read in time and its parameters stand in it', () => {
  const word = fc.oneof(
    fc.constantFrom(' must be ', ' must have ', ', got ', ': ', 'line ', 'the value ', '{}', '{*}'),
    fc.string({ maxLength: 12 }),
  );
  fc.assert(
    fc.property(fc.array(word, { maxLength: 40 }), (words) => {
      const sentence = words.join('');
      const found = codeOf(sentence);
      for (const value of Object.values(found?.params ?? {})) {
        assert.ok(typeof value === 'number' || sentence.includes(value));
      }
    }),
  );
});
