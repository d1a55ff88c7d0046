import { create, del, list, preview, update } from './change.ts';

/** Rules of a project that put errors into groups of your choosing. */
export const rules = { list, create, update, del, preview };
