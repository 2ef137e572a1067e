import { createHash } from 'node:crypto';
import { type TestContext, type TestOptions, test } from 'node:test';
import { schemaUrlNow } from './postgres-server.ts';

/** Why a test is left out; the runner counts the tests that are. */
export const needsFiles = 'needs an engine with files of its own';

type Environment = Readonly<Record<string, string>>;

interface EngineUnderTest {
  /** The settings that choose it, for a service with this data directory. */
  readonly environmentOf: (directory: string) => Environment;
  /** Whether the data is in files of the data directory. */
  readonly hasFiles: boolean;
}

const engines: ReadonlyMap<string, EngineUnderTest> = new Map([
  ['sqlite', { environmentOf: () => ({}), hasFiles: true }],
  ['postgres', { environmentOf: postgresOf, hasFiles: false }],
]);

/** The engine that the black-box tests run on: TEST_STORAGE, else sqlite. */
export const engine = process.env['TEST_STORAGE'] ?? 'sqlite';
const chosen = engines.get(engine);
if (chosen === undefined) {
  throw new Error(`TEST_STORAGE must be one of ${[...engines.keys()].join(', ')}, got ${engine}`);
}
const { environmentOf, hasFiles } = chosen;

/** The settings that choose this engine for a service with this data directory. */
export const engineEnvironment = environmentOf;

/** A schema for each directory: what is started on it again finds its data. */
function postgresOf(directory: string): Environment {
  const server = process.env['TEST_POSTGRES_URL'];
  if (server === undefined) throw new Error('TEST_STORAGE=postgres wants scripts/test.ts');
  const name = `t${createHash('sha256').update(directory).digest('hex').slice(0, 24)}`;
  return { KIPIMO_DATABASE_URL: schemaUrlNow(server, name) };
}

/** What a service says that finds another one at work where its data is. */
export function inUse(directory: string): RegExp {
  if (!hasFiles) return /^kipimo: another process of Kipimo serves this database: stop it first/;
  return new RegExp(`^kipimo: the data directory ${RegExp.escape(directory)} is in use by another`);
}

/**
 * A test of the files that the data is in, or of commands that work on them: a damaged or full
 * database, a backup. It runs on the engine that has files.
 */
export function embedded(name: string, ...rest: Rest): void {
  const [options, work] = rest.length === 1 ? [{}, rest[0]] : rest;
  const isLeftOut = !hasFiles && !options.skip;
  test(name, { ...options, ...(isLeftOut && { skip: needsFiles }) }, work);
}

type Rest = [Work] | [TestOptions, Work];
type Work = (context: TestContext) => void | Promise<void>;
