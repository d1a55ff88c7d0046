import { completeToken } from './complete-token.ts';
import { createToken } from './create-token.ts';
import { forToken } from './for-token.ts';
import { listTokens } from './list-tokens.ts';
import { retrieveToken } from './retrieve-token.ts';
import { waitFor, waitUntil } from './time.ts';

/** Waits in a task: for a time, or for the completion of a token. */
export const wait = {
  for: waitFor,
  until: waitUntil,
  forToken,
  createToken,
  completeToken,
  retrieveToken,
  listTokens,
};
