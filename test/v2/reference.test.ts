import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { type Service, startService } from '../service.ts';
import { repositoryRoot } from '../source-files.ts';

type Json = Readonly<Record<string, unknown>>;

interface Parameter {
  readonly name: string;
  readonly in: string;
  readonly required?: boolean;
  readonly schema?: unknown;
}

interface Operation {
  readonly operationId?: string;
  readonly summary?: string;
  readonly tags?: readonly string[];
  readonly parameters?: readonly Parameter[];
  readonly responses?: Readonly<Record<string, { readonly description?: string }>>;
}

const methods = ['get', 'put', 'post', 'delete', 'patch'];
const outside = /(?:https?:)?\/\/[a-z0-9]/i;

let service: Service;
let document: Json;
let operations: readonly { readonly where: string; readonly operation: Operation }[];

before(async () => {
  service = await startService();
  const reply = await service.call({ path: '//docs/v2.json' });
  assert.equal(reply.status, 200);
  assert.match(reply.headers.get('content-type') ?? '', /^application\/json/);
  document = reply.json as Json;
  operations = Object.entries(document['paths'] as Readonly<Record<string, Json>>).flatMap(
    ([path, item]) =>
      Object.entries(item).map(([method, operation]) => ({
        where: `${method} ${path}`,
        operation: operation as Operation,
      })),
  );
});

after(() => service[Symbol.asyncDispose]());

test('the reference page loads with all its files, each of the right type', async () => {
  const types: Readonly<Record<string, RegExp>> = {
    css: /^text\/css/,
    js: /^(text|application)\/javascript/,
    png: /^image\/png/,
  };
  const page = await service.call({ path: '//docs' });
  assert.equal(page.status, 200);
  assert.match(page.headers.get('content-type') ?? '', /^text\/html; charset=utf-8/);
  const files = [...page.text.matchAll(/(?:src|href)="([^"]+)"/g)].map(([, file]) => file ?? '');
  assert.ok(files.length >= 3, 'the page names its style and scripts');
  for (const file of files) {
    const reply = await service.call({ path: `/${file}` });
    assert.equal(reply.status, 200, file);
    assert.match(
      reply.headers.get('content-type') ?? '',
      types[file.split('.').at(-1) ?? ''] ?? /^text\/html/,
    );
    assert.ok(reply.text.length > 0, file);
  }
});

test('the reference page takes nothing from outside and forbids it to browsers', async () => {
  const page = await service.call({ path: '//docs' });
  const start = await service.call({ path: '//docs/start.js' });
  assert.doesNotMatch(page.text, outside);
  assert.doesNotMatch(start.text, outside);
  const policy = page.headers.get('content-security-policy') ?? '';
  assert.match(policy, /default-src 'self'/);
  assert.doesNotMatch(policy, /https?:|script-src[^;]*unsafe|\*/);
  assert.doesNotMatch(page.text, /<script>|\son\w+=/, 'no inline script, which the policy forbids');
});

test('the live documents are where the README says', async () => {
  const readme = readFileSync(join(repositoryRoot, 'README.md'), 'utf8');
  const named = [...readme.matchAll(/http:\/\/localhost:8080(\/docs\/v\d\.json)/g)];
  assert.equal(named.length, 2);
  for (const [, path] of named) {
    const { json } = await service.call({ path: `/${path}` });
    assert.equal((json as { openapi: string }).openapi, '3.1.0');
  }
});

test('the root leads somewhere useful', async () => {
  const reply = await service.call({ path: '//' });
  const target = reply.headers.get('location');
  const landing = target === null ? reply : await service.call({ path: `/${target}` });
  assert.equal(landing.status, 200);
  assert.match(landing.headers.get('content-type') ?? '', /^text\/html/);
});

test('the document is OpenAPI 3.1 with title, version, server and paths', () => {
  assert.match(String(document['openapi']), /^3\.1\.\d+$/);
  const info = document['info'] as Json;
  assert.equal(typeof info['title'], 'string');
  assert.match(String(info['version']), /^\d+\.\d+\.\d+/);
  assert.deepEqual(document['servers'], [{ url: '/api/v2' }]);
  assert.ok(operations.length > 30, `${operations.length} operations`);
});

test('every operation has a known method, a summary, a known tag and a described answer', () => {
  const tags = new Set((document['tags'] as { name: string }[]).map(({ name }) => name));
  for (const { where, operation } of operations) {
    assert.ok(methods.includes(where.split(' ')[0] ?? ''), where);
    assert.ok(operation.summary, where);
    assert.ok(operation.tags?.every((tag) => tags.has(tag)) && operation.tags.length > 0, where);
    const answers = Object.entries(operation.responses ?? {});
    assert.ok(
      answers.some(([status]) => /^20[04]$/.test(status)),
      where,
    );
    for (const [status, answer] of answers) {
      assert.match(status, /^[2-5]\d\d$/, where);
      assert.ok(answer.description, `${where} ${status}`);
    }
  }
});

test('every refusal that a body can meet is documented, and schemas have their names', () => {
  for (const { where, operation } of operations) {
    const statuses = Object.keys(operation.responses ?? {});
    assert.ok(statuses.includes('503'), where);
    const body = (operation as { requestBody?: { required: boolean } }).requestBody;
    if (body === undefined) continue;
    for (const status of ['400', '413', '429', ...(body.required ? ['415'] : [])]) {
      assert.ok(statuses.includes(status), `${where} ${status}`);
    }
    if (/post .*\/values?$/.test(where)) assert.ok(statuses.includes('507'), where);
  }
  const { schemas } = document['components'] as { schemas: Json };
  const isOfV1 = process.env['TEST_API'] === 'v1';
  const names = isOfV1 ? ['Sensor', 'Measurement'] : ['Device', 'Sensor'];
  for (const name of [
    ...names,
    'Datapoint',
    'Gateway',
    'Project',
    'Notification',
    'User',
    'Error',
  ]) {
    assert.ok(Object.hasOwn(schemas, name), name);
    assert.ok(JSON.stringify(document).includes(`"#/components/schemas/${name}"`), name);
  }
});

test('operation ids are there and unique', () => {
  const ids = operations.map(({ operation }) => operation.operationId ?? '');
  assert.ok(ids.every((id) => /^[a-z]\w+$/i.test(id)));
  assert.deepEqual(
    ids.filter((id, index) => ids.indexOf(id) !== index),
    [],
  );
});

test('every parameter of a path is declared, and every declared one is in the path', () => {
  for (const { where, operation } of operations) {
    const inPath = [...where.matchAll(/\{(\w+)\}/g)].map(([, name]) => name);
    const declared = (operation.parameters ?? []).filter((parameter) => parameter.in === 'path');
    assert.deepEqual(
      declared.map(({ name }) => name),
      inPath,
      where,
    );
    assert.ok(
      declared.every(({ required }) => required === true),
      where,
    );
    for (const parameter of operation.parameters ?? []) {
      assert.ok(parameter.schema !== undefined, `${where} ${parameter.name}`);
    }
  }
});

test('every reference inside the document leads somewhere', () => {
  const targets = [...JSON.stringify(document).matchAll(/"\$ref":"([^"]+)"/g)];
  for (const [, target = ''] of targets) {
    assert.match(target, /^#\//);
    const found = target
      .slice(2)
      .split('/')
      .reduce<unknown>((node, key) => (node as Json | undefined)?.[key], document);
    assert.ok(found !== undefined, target);
  }
});

test('the documented paths exist: none answers 404 with "there is nothing at"', async () => {
  for (const { where } of operations) {
    const [method = '', path = ''] = where.split(' ');
    const concrete = path.replaceAll(/\{\w+\}/g, 'x');
    const request = { method: method.toUpperCase(), path: concrete };
    const reply = await service.call(method === 'get' ? request : { ...request, body: '' });
    assert.notEqual(reply.status, 405, where);
    assert.doesNotMatch(reply.text, /there is nothing at/, where);
  }
});
