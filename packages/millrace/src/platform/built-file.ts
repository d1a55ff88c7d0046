import { fileURLToPath } from 'node:url';

/**
 * The built file of a program of this package that a process of its own runs, such as `executor/main.js`. Old Node.js versions cannot run
 * TypeScript, so tests use the built file too.
 */
export const builtFile = (path: string): string =>
  fileURLToPath(
    new URL(import.meta.url.endsWith('.ts') ? `../../dist/${path}` : `../${path}`, import.meta.url),
  );
