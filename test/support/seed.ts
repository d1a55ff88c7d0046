import { configureGlobal } from 'fast-check';
import { numRuns } from './long.ts';

/** `MILLRACE_TEST_SEED` gives every property test that seed: the same commit then gets the same answer. Without it each run draws its own. */
const seed = process.env['MILLRACE_TEST_SEED'];
configureGlobal({ numRuns: numRuns(100), ...(seed && { seed: Number(seed) }) });
