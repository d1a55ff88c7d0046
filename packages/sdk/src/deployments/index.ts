import { compare } from './compare.ts';
import { list } from './list.ts';
import { move } from './move.ts';
import { source } from './source.ts';
import { abortCanary, archive, promote } from './promote.ts';
import { retrieve, retrieveCurrent, retrieveLatest } from './retrieve.ts';

/** Deployed versions of the tasks: list them, compare two, make one current, roll back to an older one. */
export const deployments = {
  list,
  retrieve,
  retrieveCurrent,
  compare,
  source,
  retrieveLatest,
  promote,
  abortCanary,
  move,
  archive,
};
