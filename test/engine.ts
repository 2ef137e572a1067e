import { type TestContext, type TestOptions, test } from 'node:test';

/** Why a test is left out; the runner counts the tests that are. */
export const needsDurableEngine = 'needs a durable engine';

interface EngineUnderTest {
  /** The settings that choose it. */
  readonly environment: Readonly<Record<string, string>>;
  /** Whether data outlives the process. */
  readonly isDurable: boolean;
}

const engines: ReadonlyMap<string, EngineUnderTest> = new Map([
  ['sqlite', { environment: {}, isDurable: true }],
  ['memory', { environment: { KIPIMO_DATABASE_URL: 'memory:' }, isDurable: false }],
]);

/** The engine that the black-box tests run on: TEST_STORAGE, else sqlite. */
export const engine = process.env['TEST_STORAGE'] ?? 'sqlite';
const chosen = engines.get(engine);
if (chosen === undefined) {
  throw new Error(`TEST_STORAGE must be one of ${[...engines.keys()].join(', ')}, got ${engine}`);
}
const { environment, isDurable } = chosen;

/** The settings that choose this engine. */
export const engineEnvironment = environment;

/**
 * A test of what outlives the process, or of the files it is in: a restart, kill -9, a damaged or
 * full database, a backup. It runs on engines that keep their data.
 */
export function durable(name: string, ...rest: [Work] | [TestOptions, Work]): void {
  const [options, work] = rest.length === 1 ? [{}, rest[0]] : rest;
  const isLeftOut = !isDurable && !options.skip;
  test(name, { ...options, ...(isLeftOut && { skip: needsDurableEngine }) }, work);
}

type Work = (context: TestContext) => void | Promise<void>;
