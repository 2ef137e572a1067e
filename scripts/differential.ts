// The same bytes over the fast path and over the Fastify path, compared:
// node scripts/differential.ts [--connections 20000] [--seed N]
import { parseArgs } from 'node:util';
import { compareWays } from '../test/fuzz/fast-path-differential.ts';

const { values } = parseArgs({
  options: {
    connections: { type: 'string', default: '20000' },
    seed: { type: 'string', default: String(Date.now() % 2 ** 31) },
  },
});
const print = (line: string): void => void process.stdout.write(`${line}\n`);
print(`seed ${values.seed}`);
const differences = await compareWays({
  connections: Number(values.connections),
  seed: Number(values.seed),
  print,
});
for (const { sent, short, ordinary } of differences) {
  print(`✖ sent\n${sent}\nfast path\n${short}\nFastify path\n${ordinary}\n`);
}
print(`${differences.length === 0 ? 1 : 0} passed, ${differences.length} failed`);
process.exit(differences.length === 0 ? 0 : 1);
