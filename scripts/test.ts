// One suite of tests, or the files of the patterns given:
// node scripts/test.ts [--suite NAME] [--dot] [--again] ['src/lib/*.test.ts' …]
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
  // Files that are named run, whatever suite they are of.
  ...(positionals.length > 0 && { patterns: positionals, except: [] }),
  again: values.again === true,
  reporter: values.dot === true ? 'dot' : 'spec',
});
process.exit(concludeTests(counts));
