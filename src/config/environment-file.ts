import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { CommandKey } from './command-keys.ts';
import { ConfigError, loadConfig } from './config.ts';

/** A file of settings is typed by people; more is not such a file. */
const fileBytesMax = 65_536;
const assignment = /^(?:export\s+)?([A-Za-z_][A-Za-z0-9_]*)\s*=\s*(.*)$/;

/**
 * The settings of this process: its environment and `.env` in its working directory; what `given`
 * names, as options of a command do, goes before both.
 */
export function loadConfigHere(
  given: Readonly<Record<string, string | undefined>> = {},
): ReturnType<typeof loadConfig> {
  const named = Object.entries(given).filter(([, value]) => value !== undefined);
  const environment = readEnvironment(process.cwd(), process.env);
  return loadConfig({ ...environment, ...Object.fromEntries(named) });
}

/**
 * Remembers the settings as they are, and answers the names of those that were changed in `.env`
 * since: they apply after a restart. A file that cannot be read now is named itself.
 */
export function watchSettings(
  directory = process.cwd(),
  environment: Readonly<Record<string, string | undefined>> = process.env,
): () => readonly string[] {
  const before = readEnvironment(directory, environment);
  return () => {
    try {
      const now = readEnvironment(directory, environment);
      const names = new Set([...Object.keys(before), ...Object.keys(now)]);
      return [...names].filter((name) => name.startsWith('KIPIMO_') && before[name] !== now[name]);
    } catch (error) {
      if (error instanceof ConfigError) return ['.env'];
      throw error;
    }
  };
}

/** Reads a key of commands from the settings of this process; empty counts as not set. */
export function readCommandKey(key: CommandKey): string | undefined {
  const value = readEnvironment(process.cwd(), process.env)[key];
  return value === '' ? undefined : value;
}

/** The process's environment on top of `.env` in `directory`, when there is one. */
export function readEnvironment(
  directory: string,
  environment: Readonly<Record<string, string | undefined>>,
): Readonly<Record<string, string | undefined>> {
  const text = readIfThere(join(directory, '.env'));
  return text === undefined ? environment : { ...parseEnvironmentFile(text), ...environment };
}

/**
 * Reads lines of `NAME=value`. Quotes around the whole value are taken off; an unquoted value ends
 * at ` #`. Nothing is expanded. Throws ConfigError that names every line it cannot read.
 */
export function parseEnvironmentFile(text: string): Record<string, string> {
  const problems: string[] = [];
  const entries = new Map<string, string>();
  text
    .replace(/^\uFEFF/, '')
    .split(/\r?\n/)
    .forEach((raw, index) => {
      const line = raw.trim();
      if (line === '' || line.startsWith('#')) return;
      const problem = addLine(entries, line);
      if (problem !== undefined) problems.push(`.env line ${index + 1}: ${problem}`);
    });
  if (problems.length > 0) throw new ConfigError(problems);
  return Object.fromEntries(entries);
}

function addLine(entries: Map<string, string>, line: string): string | undefined {
  const [, name, rest] = assignment.exec(line) ?? [];
  if (name === undefined || rest === undefined) return 'must be NAME=value, or # and a comment';
  if (entries.has(name)) return `${name} is given a second time`;
  const value = unquote(rest);
  if (value === undefined) return `the quote that opens the value of ${name} does not end it`;
  entries.set(name, value);
  return undefined;
}

function unquote(text: string): string | undefined {
  const quote = text[0];
  if (quote !== '"' && quote !== "'") return text.replace(/(^|\s+)#.*$/, '').trimEnd();
  const end = text.indexOf(quote, 1);
  if (end === -1) return undefined;
  const after = text.slice(end + 1).trim();
  return after === '' || after.startsWith('#') ? text.slice(1, end) : undefined;
}

function readIfThere(path: string): string | undefined {
  let bytes: Buffer;
  try {
    bytes = readFileSync(path);
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined;
    throw new ConfigError([`.env cannot be read: ${String(error)}`]);
  }
  if (bytes.length > fileBytesMax) {
    throw new ConfigError([`.env must have at most ${fileBytesMax} bytes, has ${bytes.length}`]);
  }
  return bytes.toString('utf8');
}

/** The environment for programs that we start: without the settings, of which some are secrets. */
export const environmentOfOthers = (): NodeJS.ProcessEnv =>
  Object.fromEntries(Object.entries(process.env).filter(([key]) => !key.startsWith('KIPIMO_')));
