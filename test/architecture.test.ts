import assert from 'node:assert/strict';
import { test } from 'node:test';
import { checkImports, domainOrder, zoneRules } from './import-rules.ts';
import { readSourceFiles, type SourceFile } from './source-files.ts';

const files = readSourceFiles(['src/**/*.ts', 'tools/**/*.ts', 'dashboard/**/*.{ts,tsx}']);

test('the check reads the files it is about', () => {
  const paths = new Set(files.map(({ path }) => path));
  assert.ok(files.length > 40, `only ${files.length} files were found`);
  for (const path of ['src/domain/errors.ts', 'src/lib/log.ts', 'src/storage/storage.ts']) {
    assert.ok(paths.has(path), path);
  }
  assert.ok(Object.keys(zoneRules).length > 9 && domainOrder.length > 8);
});

test('nobody imports what the table of zones does not allow, and there are no cycles', () => {
  assert.deepEqual(checkImports(files), []);
});

/** What a planted line must be answered with. */
const planted: readonly (readonly [path: string, line: string, complaint: RegExp])[] = [
  ['src/lib/x.ts', "import '../domain/errors.ts';", /lib may not import domain/],
  ['src/lib/x.ts', "import 'node:fs';", /package node:fs/],
  ['src/lib/x.ts', "import { RE2JS } from 're2js';", /package re2js/],
  ['src/domain/x.ts', "import { Type } from 'typebox';", /package typebox/],
  ['src/domain/x.ts', "import type { Pool } from 'pg';", /package pg/],
  ['src/domain/x.ts', "import '../storage/storage.ts';", /domain may not import storage/],
  ['src/domain/access/x.ts', "import '../users/user.ts';", /to its right/],
  ['src/domain/devices/x.ts', "import '../datapoints/feed.ts';", /to its right/],
  ['src/domain/novelty/x.ts', "import '../errors.ts';", /not in the domain order/],
  ['src/domain/x.ts', "import './users/user.ts';", /to its right/],
  ['src/wire/x.ts', "export * from '../http/route.ts';", /wire may not import http/],
  ['src/wire/x.ts', "import 'fastify';", /package fastify/],
  ['src/http/x.ts', "await import('../storage/open-storage.ts');", /http may not import storage/],
  ['src/http/x.ts', "import '../mqtt/topics.ts';", /http may not import mqtt/],
  ['src/http/x.ts', "import 'pino';", /package pino/],
  ['src/http/x.ts', "import 'node:sqlite';", /only src\/storage\/sqlite/],
  ['src/http/v2/x.ts', "import '../v1/index.ts';", /may not import src\/http\/v1/],
  ['src/mqtt/x.ts', "import '../http/route.ts';", /mqtt may not import http/],
  ['src/storage/x.ts', "import '../wire/device.ts';", /storage may not import wire/],
  ['src/storage/postgres/x.ts', "import '../sqlite/writer.ts';", /strangers/],
  ['src/storage/sqlite/x.ts', "import 'pg';", /package pg/],
  ['src/storage/x.ts', "import './sqlite/writer.ts';", /name engines/],
  ['src/app/x.ts', "import '../storage/postgres/postgres-storage.ts';", /name engines/],
  ['src/storage/x.ts', "import 'node:test';", /only tests/],
  ['src/channels/sms/x.ts', "import '../voice/y.ts';", /channels are strangers/],
  ['src/telemetry/x.ts', "import '../http/route.ts';", /telemetry may not import http/],
  ['src/telemetry/x.ts', "import 'node:fs';", /package node:fs/],
  ['src/cli/x.ts', "await import('../../tools/demo/fleet.ts');", /only src\/cli\/commands.ts/],
  ['src/cli/commands.ts', "import '../../tools/demo/fleet.ts';", /only src\/cli\/commands.ts/],
  ['tools/demo/x.ts', "import '../../src/storage/storage.ts';", /tools may not import storage/],
  ['tools/demo/x.ts', "import '../admin/user.ts';", /tools may not import admin/],
  ['src/cli/x.ts', "await import('../../tools/admin/user.ts');", /only src\/cli\/commands.ts/],
  ['src/cli/commands.ts', "import '../../tools/admin/user.ts';", /only src\/cli\/commands.ts/],
  ['src/storage/x.ts', "import '../../tools/admin/move/move.ts';", /only src\/cli\/commands.ts/],
  ['src/cli/x.ts', "import '../storage/storage.ts';", /cli may not import storage/],
  ['tools/admin/x.ts', "import '../../src/http/route.ts';", /admin may not import http/],
  ['tools/admin/x.ts', "import '../../src/app/app.ts';", /admin may not import app/],
  ['tools/admin/x.ts', "import './sqlite/backup.ts';", /name engines/],
  ['tools/admin/x.ts', "import '../../src/storage/sqlite/writer.ts';", /name engines/],
  ['tools/admin/x.ts', "import 'node:sqlite';", /only src\/storage\/sqlite/],
  ['tools/admin/postgres/x.ts', "import '../sqlite/backup.ts';", /strangers/],
  ['tools/admin/sqlite/x.ts', "import '../../../src/storage/postgres/reader.ts';", /strangers/],
  ['tools/demo/x.ts', "import '../../test/service.ts';", /outside of src/],
  ['tools/demo/x.ts', "import 'fastify';", /package fastify/],
  ['src/novelty/x.ts', "import '../lib/log.ts';", /in no zone/],
  ['src/x.ts', "import '../test/service.ts';", /outside of src/],
  ['src/x.ts', "import 'left-pad';", /package left-pad/],
  ['src/x.ts', "import './config.test.ts';", /imports the test/],
  ['src/http/x.ts', "import '../../dashboard/main.tsx';", /outside of src/],
  [
    'dashboard/x.ts',
    "import '../src/domain/devices/query-evaluation.ts';",
    /may import types of src\/wire/,
  ],
  ['dashboard/x.ts', "import '../src/wire/device.ts';", /may import types of src\/wire/],
  ['dashboard/x.ts', "import type { A } from '../src/http/route.ts';", /may import types/],
  ['dashboard/x.tsx', "import 'mqtt';", /package mqtt/],
  ['src/lib/backoff.ts', "import './clock.ts';", /not shared with the dashboard/],
];

for (const [path, line, complaint] of planted) {
  test(`${line} planted in ${path} is refused`, () => {
    const problems = checkImports([...files, { path, text: line }]).join('\n');
    assert.match(problems, complaint);
    assert.ok(problems.includes(path));
  });
}

test('a cycle planted anywhere is refused with its path', () => {
  const circle: readonly SourceFile[] = [
    { path: 'src/lib/a.ts', text: "import './b.ts';" },
    { path: 'src/lib/b.ts', text: "import './c.ts';" },
    { path: 'src/lib/c.ts', text: "export type { A } from './a.ts';" },
  ];
  const screens: readonly SourceFile[] = [
    { path: 'dashboard/a.ts', text: "await import('./b.tsx');\nimport './c.ts';" },
    { path: 'dashboard/b.tsx', text: "import './a.ts';" },
    { path: 'dashboard/c.ts', text: "import type { A } from './a.ts';" },
  ];
  assert.deepEqual(checkImports(screens), [
    'cycle: dashboard/a.ts → dashboard/c.ts → dashboard/a.ts',
  ]);
  assert.deepEqual(checkImports(circle), [
    'cycle: src/lib/a.ts → src/lib/b.ts → src/lib/c.ts → src/lib/a.ts',
  ]);
});

const welcome: readonly (readonly [path: string, line: string])[] = [
  ['src/lib/pattern.ts', "import { RE2JS } from 're2js';"],
  ['src/domain/datapoints/x.ts', "import '../devices/device.ts';"],
  ['src/domain/users/x.ts', "import '../errors.ts';"],
  ['src/http/v1/x.ts', "import '../v2/x.ts';"],
  ['src/storage/x.test.ts', "import { test } from 'node:test';\nimport 'fast-check';"],
  ['src/storage/sqlite/x.ts', "import 'node:sqlite';"],
  ['src/storage/open-storage.ts', "await import('./postgres/x.ts');"],
  ['src/http/x.ts', "import '@fastify/static';"],
  ['src/cli/commands.ts', "await import('../../tools/demo/fleet.ts');"],
  ['src/cli/commands.ts', "await import('../../tools/admin/user.ts');"],
  [
    'tools/admin/x.ts',
    "import '../../src/storage/open-storage.ts';\nimport '../copy-progress.ts';",
  ],
  ['tools/admin/sqlite/x.ts', "import '../../../src/storage/sqlite/writer.ts';"],
  ['tools/admin/postgres/x.ts', "import 'pg';\nimport '../move/move.ts';"],
  ['tools/bench/no-op-server.ts', "import 'fastify';"],
  ['src/domain/users/x.test.ts', "import '../../storage/sqlite/x.ts';"],
  ['dashboard/x.ts', "import type { A } from '../src/wire/device.ts';"],
  ['dashboard/x.ts', "import '../src/lib/duration.ts';\nimport 'preact/hooks';"],
  ['src/lib/backoff.ts', "import type { Instant } from './clock.ts';"],
];

for (const [path, line] of welcome) {
  test(`${JSON.stringify(line)} in ${path} is welcome`, () => {
    assert.deepEqual(checkImports([{ path, text: line }]), []);
  });
}
