import { create } from './create.ts';
import { reset } from './reset.ts';

/** Keys under which a trigger happens once. */
export const idempotencyKeys = { create, reset };
