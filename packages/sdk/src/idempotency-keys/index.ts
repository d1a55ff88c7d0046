import { create } from './create.ts';
import { reset } from './reset.ts';

/** Keys that make a trigger happen only once. */
export const idempotencyKeys = { create, reset };
