import { configureGlobal } from 'fast-check';
import { numRuns } from './long.ts';

/** `MILLRACE_TEST_SEED` sets the seed of every property test, for reproducible results. Without it, each run has a random seed. */
const seed = process.env['MILLRACE_TEST_SEED'];
configureGlobal({ numRuns: numRuns(100), ...(seed && { seed: Number(seed) }) });
