import { randomInt } from 'node:crypto';

/** What chance sends follows from this number; FUZZ_SEED has a failure again. */
export const fuzzSeed = Number(process.env['FUZZ_SEED'] ?? randomInt(2 ** 31));
