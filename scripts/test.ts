// All tests, or those of the patterns given: node scripts/test.ts [--dot] ['src/lib/*.test.ts' …]
import { concludeTests, runTests, testPatterns } from './run-tests.ts';

const words = process.argv.slice(2);
const patterns = words.filter((word) => word !== '--dot');
const counts = await runTests({
  patterns: patterns.length === 0 ? testPatterns : patterns,
  reporter: words.includes('--dot') ? 'dot' : 'spec',
});
process.exit(concludeTests(counts));
