import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { test } from 'node:test';
import { findLosePromises } from '../scripts/promise-check.ts';
import { readSourceFiles } from './source-files.ts';

const root = join(import.meta.dirname, '..');

test('every promise is waited for, or said to be let go', () => {
  for (const project of ['tsconfig.json', 'dashboard/tsconfig.json']) {
    assert.deepEqual(findLosePromises(join(root, project)), [], project);
  }
});

test('nothing answers now a value and now a promise', () => {
  const either = readSourceFiles(['src/**/*.ts', 'tools/**/*.ts'])
    .filter(({ text }) => /\| Promise<|instanceof Promise\b/.test(text))
    .map(({ path }) => path);
  // Both engines run the same generators there; `answerOf` alone takes such an answer.
  assert.deepEqual(either, ['src/storage/chunks/engine-work.ts']);
});

test('answers of an engine, at once or awaited, are taken by answerOf alone', () => {
  const files = readSourceFiles(['src/storage/chunks/*.ts']);
  const methods = files.flatMap(({ text }) =>
    [...text.matchAll(/^ {2}(\w+)\([^)]*\): Answered</gm)].map(([, name = '']) => name),
  );
  assert.ok(methods.length > 8, methods.join());
  const loose = files.flatMap(({ path, text }) =>
    [...text.matchAll(/(answerOf\(\s*)?\bstore\.(\w+)\(/g)].flatMap(([, taken, name = '']) =>
      methods.includes(name) && taken === undefined ? [`${path} ${name}`] : [],
    ),
  );
  assert.deepEqual(loose, []);
  const users = readSourceFiles(['src/**/*.ts']).filter(({ text }) =>
    /\bAnswered\b.*engine-work/.test(text),
  );
  assert.ok(users.every(({ path }) => path.startsWith('src/storage/chunks/')));
});

/** What is written without a wait, and what is found in it. */
const plants: readonly (readonly [code: string, what: string | undefined])[] = [
  ['users.remove(id);', 'nobody waits for it'],
  ['const { remove } = users; remove(id);', 'nobody waits for it'],
  ['access.require(actor, scope, device);', 'nobody waits for it'],
  ['users.remove(id).then(() => undefined);', 'nobody waits for it'],
  ['if (access.allows(actor, scope, device)) return;', 'a promise is always true'],
  ['return !access.allows(actor, scope, device);', 'a promise is always true'],
  ['return access.allows(actor, scope, device) ? 1 : 2;', 'a promise is always true'],
  ['return access.allows(actor, scope, device) && 1;', 'a promise is always true'],
  [
    "process.on('exit', async () => void (await users.remove(id)));",
    'the caller waits for nothing',
  ],
  ['feed.subscribe(async () => void (await users.remove(id)));', 'the caller waits for nothing'],
  ['const told = { onOpened: async () => {} } satisfies Ends;', 'the caller waits for nothing'],
  ['using open = opened; return users.remove(id);', 'what it needs is closed before'],
  [
    '{ await using open = opened; if (id) return users.remove(id); }',
    'what it needs is closed before',
  ],
  [
    'try { return users.remove(id); } finally { closed.delete(id); }',
    'what it needs is closed before',
  ],
  ['using open = opened; return await users.remove(id);', undefined],
  ['using open = opened; return [1].map(() => users.remove(id));', undefined],
  [
    'try { if (id) await access.allows(actor, scope, device); } catch {} return users.remove(id);',
    undefined,
  ],
  ['await users.remove(id);', undefined],
  ['void users.remove(id);', undefined],
  ['users.remove(id).catch(() => undefined);', undefined],
  ['if (await access.allows(actor, scope, device)) return;', undefined],
  ['feed.onChange(async () => void (await users.remove(id)));', undefined],
];

test('a missing await is found, and one that is there is not', () => {
  mkdirSync(join(root, '.scratch'), { recursive: true });
  const folder = mkdtempSync(join(root, '.scratch', 'promises-'));
  try {
    const imports = [
      "import type { Access } from '../../src/domain/access/policy.ts';",
      "import type { Resource } from '../../src/domain/access/policy.ts';",
      "import type { Scope } from '../../src/domain/access/scopes.ts';",
      "import type { Actor } from '../../src/domain/actor.ts';",
      "import type { Feed } from '../../src/domain/datapoints/feed.ts';",
      "import type { UserId } from '../../src/domain/ids.ts';",
      "import type { UserStore } from '../../src/domain/users/user.ts';",
      'interface Ends { readonly onOpened: () => void }',
      'declare const closed: Set<UserId>;',
      'declare const opened: Disposable & AsyncDisposable;',
    ];
    const given =
      'users: UserStore, access: Access, feed: Feed, id: UserId, actor: Actor, scope: Scope, ' +
      'device: Resource';
    const functions = plants.map(
      ([code], at) => `export async function p${at}(${given}) { ${code} }`,
    );
    const file = join(folder, 'planted.ts');
    writeFileSync(file, [...imports, ...functions].join('\n'));
    const config = { extends: '../../tsconfig.json', include: ['planted.ts'] };
    writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify(config));
    const found = findLosePromises(join(folder, 'tsconfig.json')).filter(({ place }) =>
      place.startsWith(relative(process.cwd(), file)),
    );
    const byLine = new Map(found.map(({ place, what }) => [Number(place.split(':').at(-1)), what]));
    for (const [at, [code, what]] of plants.entries()) {
      assert.equal(byLine.get(imports.length + at + 1), what, code);
    }
  } finally {
    rmSync(folder, { recursive: true });
  }
});
