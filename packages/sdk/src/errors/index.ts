import { list } from './list.ts';
import { resolve } from './resolve.ts';
import { retrieve } from './retrieve.ts';

/** Error groups: failed runs, grouped by what went wrong. */
export const errors = { list, retrieve, resolve };
