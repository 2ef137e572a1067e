// Strangers beside an honest client: node scripts/neighbours.ts ['test/neighbours/mqtt-*' …]
import { concludeTests, runTests } from './run-tests.ts';

const patterns = process.argv.slice(2);
const counts = await runTests({
  patterns: patterns.length === 0 ? ['test/neighbours/*.test.ts'] : patterns,
  reporter: 'spec',
  sideBySide: 1,
});
process.exit(concludeTests(counts));
