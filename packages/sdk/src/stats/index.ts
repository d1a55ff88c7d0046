import { retrieve } from './retrieve.ts';

/** Time series about runs. */
export const stats = { retrieve };
