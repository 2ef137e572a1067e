import assert from 'node:assert/strict';
import { test } from 'node:test';
import { plants } from '../scripts/plants/index.ts';
import { complaintsAbout } from '../scripts/plants/plant.ts';
import { functionsOf } from './code-text.ts';
import { readSourceFiles, repositoryRoot } from './source-files.ts';
import { checkCode, checkDocument, checkName, longClosures } from './tidy-rules.ts';

const code = readSourceFiles([
  'src/**/*.{ts,js}',
  'tools/**/*.{ts,js}',
  'test/**/*.{ts,js}',
  'scripts/**/*.{ts,js}',
  'bench/**/*.{ts,js}',
  'bin/**/*.{ts,js}',
  'dashboard/**/*.{ts,tsx,js}',
]);
const documents = readSourceFiles(['*.md', 'docs/**/*.md', 'dashboard/**/*.md']);
const others = readSourceFiles(['src/**/*.sql', 'docs/**/*.json', 'deploy/**/*.*']);

test('the check reads the files it is about', () => {
  assert.ok(code.length > 60, `only ${code.length} code files were found`);
  assert.ok(documents.length > 3, `only ${documents.length} documents were found`);
  assert.ok(code.some(({ path }) => path === 'bin/kipimo.js'));
});

test('code files keep the limits of length and none of the banned words', () => {
  assert.deepEqual(code.flatMap(checkCode), []);
});

test('what was too long of before goes from the list once it is short', () => {
  for (const path of Object.keys(longClosures)) {
    const text = code.find((file) => file.path === path)?.text ?? '';
    const longest = Math.max(...functionsOf(text).map(({ total }) => total));
    assert.ok(longest > 150, `${path} is short now: take it from the list in tidy-rules.ts`);
  }
});

test('names of files and folders are kebab-case nouns that say something', () => {
  const files = [...code, ...documents, ...others];
  assert.deepEqual(
    files.flatMap(({ path }) => checkName(path)),
    [],
  );
});

test('what "npm run planted" takes out is there once, and its test as well', () => {
  assert.deepEqual(
    plants.flatMap((plant) => complaintsAbout(repositoryRoot, plant)),
    [],
    'a plant follows the code that it patches: scripts/plants/',
  );
});

test('documents start with a title', () => {
  assert.deepEqual(documents.flatMap(checkDocument), []);
});

const bad: readonly (readonly [path: string, text: string, complaint: RegExp])[] = [
  ['src/x.ts', 'a\n'.repeat(401), /has 401 lines/],
  ['src/x.ts', `const a = '${'x'.repeat(100)}';`, /:1 has 113 columns/],
  ['src/x.ts', `function f() {\n${'a();\n'.repeat(69)}}`, /:1 starts a function of 71 lines/],
  ['src/x.tsx', `function f() {\n${'a();\n'.repeat(69)}}`, /:1 starts a function of 71 lines/],
  [
    'src/x.ts',
    `function f() {\n${`function g() {\n${'a();\n'.repeat(50)}}\n`.repeat(3)}}`,
    /:1 starts a function of 158 lines with what is inside, at most 150/,
  ],
  ['src/x.ts', `class A {\n${'a = 1;\n'.repeat(149)}}`, /starts a class of 151 lines/],
  ['src/x.ts', 'const a = b as any;', /"as any"/],
  ['src/x.ts', '// @ts-ignore\na();', /"@ts-ignore"/],
  ['src/x.ts', 'a(); // TODO later', /"TODO"/],
  ['src/x.ts', 'console.log(1);', /"console\."/],
  ['src/x.ts', 'const now = Date.now();', /"Date\.now\("/],
  ['src/x.ts', 'const a = process.env.A;', /"process\.env"/],
  ['test/x.ts', 'export default 1;', /"export default"/],
];
for (const [path, text, complaint] of bad) {
  test(`tidy refuses ${JSON.stringify(text.slice(0, 30))} in ${path}`, () => {
    assert.match(checkCode({ path, text }).join('\n'), complaint);
  });
}

const good: readonly (readonly [path: string, text: string])[] = [
  ['src/x.ts', 'a\n'.repeat(400)],
  ['src/x.ts', `// https://example.org/${'x'.repeat(100)}`],
  ['src/x.ts', `function f() {\n${'a();\n'.repeat(68)}}`],
  ['src/x.ts', "const company = 'as any TODO console.log';"],
  ['scripts/x.ts', 'console.log(1);'],
  ['src/lib/clock.ts', 'const now = Date.now();'],
];
for (const [path, text] of good) {
  test(`tidy accepts ${JSON.stringify(text.slice(0, 30))} in ${path}`, () => {
    assert.deepEqual(checkCode({ path, text }), []);
  });
}

test('a name is refused for its spelling and for saying nothing', () => {
  for (const path of ['src/lib/logFile.ts', 'src/Lib/a.ts', 'src/lib/a_b.ts']) {
    assert.match(checkName(path).join(), /not kebab-case/);
  }
  for (const path of ['src/lib/string-utils.ts', 'src/http/route-helper.ts', 'src/manager.ts']) {
    assert.match(checkName(path).join(), /nothing in particular/);
  }
  assert.deepEqual(checkName('src/storage/sqlite/migrations/0001-accounts-and-devices.sql'), []);
});

test('a document without a title is refused', () => {
  assert.equal(checkDocument({ path: 'docs/x.md', text: 'Hello\n# Title' }).length, 1);
  assert.equal(checkDocument({ path: 'docs/x.md', text: '# Title\n' }).length, 0);
});
