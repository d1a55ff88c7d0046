import { retrieve } from './retrieve.ts';

/** Time series of what happened to runs. */
export const stats = { retrieve };
