import { readFile } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { readVersion } from '../src/app/version.ts';
import { commandKeys } from '../src/config/command-keys.ts';
import { configKeys } from '../src/config/config-keys.ts';
import { errorCodes } from '../src/domain/errors.ts';
import { edgeErrorCodes, statusOf } from '../src/http/errors.ts';
import { v1Routes } from '../src/http/v1/index.ts';
import { v2Routes } from '../src/http/v2/index.ts';
import type { Services } from '../src/http/v2/services.ts';
import { limitsPage } from './limits-page.ts';
import { versionDocuments } from './openapi.ts';
import { plantedPage } from './planted-page.ts';

/** A committed file that follows from the source: `npm run docs` writes it, the check compares. */
export interface GeneratedFile {
  /** From the root of the repository. */
  readonly path: string;
  readonly content: () => string | Promise<string>;
}

/** Every generated file; one that follows from the source is one line more. */
export const generatedFiles: readonly GeneratedFile[] = [
  { path: 'docs/configuration.md', content: configurationPage },
  { path: 'docs/errors.md', content: errorsPage },
  { path: 'docs/limits.md', content: limitsPage },
  { path: 'docs/openapi/v1.json', content: () => versionDocument('v1') },
  { path: 'docs/openapi/v2.json', content: () => versionDocument('v2') },
  { path: 'docs/planted-faults.md', content: plantedPage },
];

const root = resolve(dirname(import.meta.filename), '..');

/** Where a generated file is on this machine. */
export function absolutePath(file: GeneratedFile): string {
  return join(root, file.path);
}

/** The generated files whose committed content differs from what the source says now. */
export async function staleFiles(): Promise<readonly string[]> {
  const checks = generatedFiles.map(async (file) => {
    const committed = await readFile(absolutePath(file), 'utf8').catch(() => undefined);
    return committed === (await file.content()) ? [] : [file.path];
  });
  return (await Promise.all(checks)).flat();
}

const notice = (source: string): string =>
  `<!-- Generated from ${source} by "npm run docs"; edit that file, not this one. -->`;

function configurationPage(): string {
  const rows = Object.entries(configKeys).map(([name, declaration]) => {
    const { kind, meaning } = declaration;
    const standard = 'default' in declaration ? declaration.default : undefined;
    const isSecret = 'isSecret' in declaration ? ' Secret.' : '';
    const shown = standard === undefined ? 'none' : `\`${standard}\``;
    return `| \`${name}\` | ${shown} | ${kind.must} | ${meaning}${isSecret} |`;
  });
  return lines(
    '# Configuration',
    '',
    notice('src/config/config-keys.ts'),
    '',
    'Settings come from the environment and from a file `.env` in the working directory; where',
    'both speak, the environment wins. An empty value counts as not set. An unknown `KIPIMO_…` key',
    'or a value that is not allowed stops the start with one sentence for each.',
    '',
    '| key | default | what it must be | meaning |',
    '|---|---|---|---|',
    ...rows,
    '',
    'A key that is "not in this version" is reserved: giving it a value is refused, so that no',
    'setting is ignored in silence.',
    '',
    'Lines of `.env` are `NAME=value`; `#` starts a comment, quotes around a value are taken off,',
    'and nothing is expanded.',
    '',
    '## Secrets of commands',
    '',
    'Commands that log in, or make accounts, read these from their environment and `.env`, so that',
    'no secret stands in a command line; options go before them. The service passes over them.',
    '',
    '| key | meaning |',
    '|---|---|',
    ...Object.entries(commandKeys).map(([name, meaning]) => `| \`${name}\` | ${meaning} |`),
  );
}

function errorsPage(): string {
  const meanings: readonly (readonly [keyof typeof statusOf, string])[] = [
    ...entriesOf(errorCodes),
    ...entriesOf(edgeErrorCodes),
  ];
  const rows = meanings
    .map(([code, meaning]) => ({ code, meaning, status: statusOf[code] }))
    .sort((left, right) => left.status - right.status)
    .map(({ code, meaning, status }) => `| ${status} | \`${code}\` | ${meaning} |`);
  return lines(
    '# Errors',
    '',
    notice('src/domain/errors.ts and src/http/errors.ts'),
    '',
    'A refused request is answered with a status and a JSON body, in every version of the API:',
    '`{"error": "<code>", "description": "<what to change>"}`.',
    '',
    '| status | code | when |',
    '|---|---|---|',
    ...rows,
  );
}

/** Object.entries that keeps the names of a closed table. */
function entriesOf<Name extends string>(
  table: Readonly<Record<Name, string>>,
): readonly (readonly [Name, string])[] {
  return Object.entries(table) as [Name, string][];
}

function lines(...all: readonly string[]): string {
  return `${all.join('\n')}\n`;
}

function versionDocument(name: 'v1' | 'v2'): string {
  // The routes close over the services and ask nothing of them until a request comes.
  const services = {} as Services;
  const routes = { v1: v1Routes(services, 60), v2: v2Routes(services, 600) };
  const documents = versionDocuments({ version: readVersion(), routes, services });
  return `${JSON.stringify(documents[name](), undefined, 2)}\n`;
}
