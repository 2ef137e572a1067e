import { type TestContext, type TestOptions, test } from 'node:test';

/** Why a test is left out; the runner counts the tests that are. */
export const needsDurableEngine = 'needs a durable engine';

/** The engine that the black-box tests run on: TEST_STORAGE, else sqlite. */
export const engine = process.env['TEST_STORAGE'] ?? 'sqlite';
if (engine !== 'sqlite' && engine !== 'memory') {
  throw new Error(`TEST_STORAGE must be sqlite or memory, got ${engine}`);
}

/** The settings that choose this engine. */
export const engineEnvironment: Readonly<Record<string, string>> =
  engine === 'memory' ? { KIPIMO_DATABASE_URL: 'memory:' } : {};

/**
 * A test of what outlives the process, or of the files it is in: a restart, kill -9, a damaged or
 * full database, a backup. It runs on engines that keep their data.
 */
export function durable(name: string, ...rest: [Work] | [TestOptions, Work]): void {
  const [options, work] = rest.length === 1 ? [{}, rest[0]] : rest;
  const isLeftOut = engine === 'memory' && !options.skip;
  test(name, { ...options, ...(isLeftOut && { skip: needsDurableEngine }) }, work);
}

type Work = (context: TestContext) => void | Promise<void>;
