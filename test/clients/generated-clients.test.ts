import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { cpSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { registerHooks } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import { passwordOf, type Service, startService } from '../service.ts';
import { repositoryRoot } from '../source-files.ts';

const run = promisify(execFile);
const versions = ['v1', 'v2'] as const;

let service: Service;
let folder: string;

before(async () => {
  service = await startService();
  await service.tokenOf('ama');
  folder = mkdtempSync(join(tmpdir(), 'kipimo-clients-'));
  cpSync(join(import.meta.dirname, 'generated'), folder, { recursive: true });
  symlinkSync(join(repositoryRoot, 'node_modules'), join(folder, 'node_modules'));
  writeFileSync(join(folder, 'package.json'), '{"type":"module"}');
  const compilerOptions = {
    ...{ target: 'es2024', module: 'nodenext', types: ['node'], noEmit: true },
    ...{ strict: true, exactOptionalPropertyTypes: true, noUncheckedIndexedAccess: true },
    allowImportingTsExtensions: true,
  };
  writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify({ compilerOptions }));
});

after(async () => {
  rmSync(folder, { recursive: true, force: true });
  await service[Symbol.asyncDispose]();
});

/** The generator of other people's clients. */
async function loadGenerator() {
  // It builds syntax trees with the compiler, which TypeScript 7 does not offer to JavaScript.
  const compiler = join(repositoryRoot, 'node_modules/@ts-morph/common/dist/typescript.js');
  registerHooks({
    resolve: (name, context, next) =>
      next(name === 'typescript' ? pathToFileURL(compiler).href : name, context),
  });
  // By a name that is no literal: its own types want the compiler that is not there.
  const name: string = 'openapi-typescript';
  const { default: generate, astToString } = await import(name);
  return async (document: unknown): Promise<string> => astToString(await generate(document));
}

test('types generated from both documents compile, with programs that use them', async () => {
  const typesOf = await loadGenerator();
  for (const version of versions) {
    const { json } = await service.call({ path: `//docs/${version}.json` });
    const types = await typesOf(json);
    assert.match(types, /export interface paths \{/);
    writeFileSync(join(folder, `${version}-types.ts`), types);
  }
  const compiler = join(repositoryRoot, 'node_modules/typescript/bin/tsc');
  const { stdout } = await run(process.execPath, [compiler, '-p', folder]).catch((error) => error);
  assert.equal(stdout, '');
});

for (const version of versions) {
  test(`a generated client of ${version} makes a device, pushes, and reads back`, async () => {
    const program = join(folder, `${version}-program.ts`);
    await run(process.execPath, [program, service.url, 'ama', passwordOf('ama')]);
  });
}
