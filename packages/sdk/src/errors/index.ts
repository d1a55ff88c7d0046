import { assign, link, note } from './assign.ts';
import { history } from './history.ts';
import { ignore, unresolve } from './ignore.ts';
import { list } from './list.ts';
import { fingerprints, merge, split } from './merge.ts';
import { resolve } from './resolve.ts';
import { retrieve } from './retrieve.ts';
import { versions } from './versions.ts';
import { rules } from './rules/index.ts';

/** Error groups: failed runs, grouped by cause. */
export const errors = {
  list,
  retrieve,
  resolve,
  ignore,
  unresolve,
  assign,
  note,
  link,
  history,
  fingerprints,
  versions,
  merge,
  split,
  rules,
};
