// Strangers who send anything over HTTP, MQTT and WebSocket, beside one honest client:
// node scripts/fuzz.ts [--minutes 1] [--seed N] [--honest-ms 250]
import { parseArgs } from 'node:util';
import { runFuzz } from '../test/fuzz/fuzz.ts';

const { values } = parseArgs({
  options: {
    minutes: { type: 'string', default: '1' },
    'honest-ms': { type: 'string', default: '250' },
    seed: { type: 'string', default: String(Date.now() % 2 ** 31) },
  },
});
const verdicts = await runFuzz({
  minutes: Number(values.minutes),
  honestMs: Number(values['honest-ms']),
  seed: Number(values.seed),
  print: (line) => process.stdout.write(`${line}\n`),
});
let failed = 0;
for (const { what, isGood, seen } of verdicts) {
  if (!isGood) failed += 1;
  process.stdout.write(`${isGood ? '✔' : '✖'} ${what}: ${seen}\n`);
}
process.stdout.write(`${verdicts.length - failed} passed, ${failed} failed\n`);
process.exit(failed === 0 ? 0 : 1);
