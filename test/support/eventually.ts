import { expect } from 'vitest';

/** Expects something of a value that real processes and a browser have to bring about first: it is looked at again for as long as that may take. */
export function eventually<T>(look: () => T) {
  return expect.poll(look, { timeout: 20_000 });
}
