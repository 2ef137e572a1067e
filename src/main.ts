import { commands } from './cli/commands.ts';
import { runCommandLine } from './cli/program.ts';

await runCommandLine(process.argv.slice(2), commands);
