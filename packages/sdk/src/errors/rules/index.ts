import { create, del, list, preview, update } from './change.ts';

/** A project's rules that group errors by custom keys. */
export const rules = { list, create, update, del, preview };
