// Fails, with their names, while generated files differ from what the source says.
import { staleFiles } from './generated-files.ts';

const stale = await staleFiles();
for (const path of stale) console.log(`${path} differs from the source: run "npm run docs"`);
process.exit(stale.length === 0 ? 0 : 1);
