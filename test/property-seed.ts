// Loaded before each test file when FUZZ_SEED is set: properties say their seed when they fail.
import fc from 'fast-check';
import { fuzzSeed } from './fuzz/seed.ts';

fc.configureGlobal({ ...fc.readConfigureGlobal(), seed: fuzzSeed });
