/** `MILLRACE_TEST_SEED` gives every property test that seed: the same commit then gets the same answer. Without it each run draws its own. */
const seed = process.env['MILLRACE_TEST_SEED'];
if (seed) {
  const { configureGlobal } = await import('fast-check');
  configureGlobal({ seed: Number(seed) });
}
