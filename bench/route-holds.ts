// How long the main thread is held by the largest bodies that each route takes, from an account
// that has just signed up: node bench/route-holds.ts [a part of a path]
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { limits } from '../src/domain/limits.ts';
import { startMetered } from './metered-service.ts';

/** What nothing that anybody may send is to hold the main thread for, in ms. */
const boundMs = 20;
const [, , part = ''] = process.argv;
const directory = mkdtempSync(join(tmpdir(), 'kipimo-routes-'));

interface Schema {
  readonly type?: string;
  readonly $ref?: string;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly items?: Schema;
}

interface Operation {
  readonly requestBody?: { readonly content: Readonly<Record<string, { schema: Schema }>> };
}

interface OpenApi {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  readonly components: { readonly schemas: Readonly<Record<string, Schema>> };
}

/** Texts of JSON, about as long as a body may be. */
function* largeTexts(bytes: number): Generator<readonly [string, string]> {
  const fill = (each: (n: number) => string): string => {
    const parts: string[] = [];
    for (let n = 0, length = 0; length < bytes; n += 1) {
      const one = each(n);
      parts.push(one);
      length += one.length + 1;
    }
    return parts.join(',');
  };
  yield ['keys', `{${fill((n) => `"k${n}":1`)}}`];
  yield ['texts', `[${fill((n) => `"t${n}"`)}]`];
  yield ['numbers', `[${fill((n) => `${n % 10}`)}]`];
  yield ['digits', `[${fill((n) => `1234567890123456789${n}`)}]`];
  yield ['objects', `[${fill((n) => `{"id":"i${n}","name":"n"}`)}]`];
  yield ['nested', `[${fill(() => `${'['.repeat(20)}${']'.repeat(20)}`)}]`];
  yield ['escapes', `"${'\\u0041\\n'.repeat(bytes / 8)}"`];
  yield ['text', `"${'x'.repeat(bytes)}"`];
  yield ['not JSON', `{"a":[${fill(() => '{"b":1}')}`];
}

function* bodiesOf(
  schema: Schema | undefined,
  bytes: number,
): Generator<readonly [string, string]> {
  const names = Object.keys(schema?.properties ?? {});
  for (const [shape, text] of largeTexts(bytes)) {
    yield [shape, text];
    for (const name of names)
      yield [`${name}: ${shape}`, `{"id":"one",${JSON.stringify(name)}:${text}}`];
  }
}

async function main(): Promise<void> {
  await using service = await startMetered(directory);
  const { holds } = service;
  const send = async (method: string, path: string, body: string, token: string, type: string) => {
    const headers = {
      'content-type': type,
      ...(token !== '' && { authorization: `Bearer ${token}` }),
    };
    try {
      const answer = await fetch(`${service.url}${path}`, { method, headers, body });
      return { status: answer.status, text: await answer.text() };
    } catch {
      // What is too large is refused while it is sent.
      return { status: 413, text: '' };
    }
  };
  const login = JSON.stringify({ username: 'fresh', password: 'a fresh password' });
  await send('POST', '/api/v2/users', login, '', 'application/json');
  const { text: token } = await send('POST', '/api/v2/auth/token', login, '', 'application/json');
  for (const [path, body] of [
    ['devices', '{"id":"d","sensors":[{"id":"s"}],"actuators":[{"id":"a"}]}'],
    ['gateways', '{"id":"g"}'],
    ['projects', '{"id":"p","name":"p"}'],
  ] as const) {
    await send('POST', `/api/v2/${path}`, body, token, 'application/json');
  }
  const document = JSON.parse(
    readFileSync(resolve(import.meta.dirname, '../docs/openapi/v2.json'), 'utf8'),
  ) as OpenApi;
  const schemaOf = (schema: Schema | undefined): Schema | undefined =>
    schema?.$ref === undefined
      ? schema
      : document.components.schemas[schema.$ref.split('/').at(-1) ?? ''];
  const found: string[] = [];
  for (const [path, operations] of Object.entries(document.paths)) {
    for (const [method, { requestBody }] of Object.entries(operations)) {
      if (requestBody === undefined || !path.includes(part)) continue;
      const type = Object.keys(requestBody.content)[0] ?? 'application/json';
      const schema = schemaOf(requestBody.content[type]?.schema);
      const url = `/api/v2${path}`
        .replace(/\{device_id\}|\{d\}/, 'd')
        .replace(/\{sensor_id\}/, 's')
        .replace(/\{actuator_id\}/, 'a')
        .replace(/\{gateway_id\}/, 'g')
        .replace(/\{\w+\}/g, 'p');
      let worst = 0;
      for (const [shape, body] of bodiesOf(schema, limits.bodyBytesMax - 2_000)) {
        await holds();
        const { status } = await send(method.toUpperCase(), url, body, token, type);
        const { workedMax } = await holds();
        worst = Math.max(worst, workedMax);
        if (workedMax > boundMs) {
          found.push(
            `${workedMax.toFixed(0).padStart(6)} ms  ${method} ${path}  ${shape}: ${status}`,
          );
          console.log(found.at(-1));
        }
      }
      console.log(`${worst.toFixed(1).padStart(8)} ms at most  ${method} ${path}`);
    }
  }
  console.log(`${found.length} bodies held the main thread for more than ${boundMs} ms`);
}

try {
  await main();
} finally {
  rmSync(directory, { recursive: true, force: true });
}
