import module from 'node:module';

/** Flushes Node's compile cache of this run. Node flushes it only at exit, which a process that a test kills never reaches. */
export function keepCompiled(): void {
  // Missing in Node before 22.10.
  (module as { flushCompileCache?: () => void }).flushCompileCache?.();
}
