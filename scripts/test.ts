// One suite of tests, or the files of the patterns given:
// node scripts/test.ts [--suite browser|walks|neighbours] [--dot] [--again] ['src/lib/*.test.ts' …]
import { parseArgs } from 'node:util';
import { concludeTests, runTests, suiteNamed } from './run-tests.ts';

const { values, positionals } = parseArgs({
  options: {
    suite: { type: 'string', default: 'tests' },
    dot: { type: 'boolean' },
    again: { type: 'boolean' },
  },
  allowPositionals: true,
});
const suite = suiteNamed(values.suite);
const counts = await runTests({
  ...suite,
  ...(positionals.length > 0 && { patterns: positionals }),
  again: values.again === true,
  reporter: values.dot === true ? 'dot' : 'spec',
});
process.exit(concludeTests(counts));
