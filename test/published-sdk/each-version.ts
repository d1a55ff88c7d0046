import { isLong } from '../support/long.ts';

type Version = readonly [string, () => Promise<unknown>];

const oldest: Version = ['4.0', () => import('published-sdk-4.0')];
const newest: Version = ['4.8', () => import('@trigger.dev/sdk')];
const between: readonly Version[] = [
  ['4.4', () => import('published-sdk-4.4')],
  ['4.5', () => import('published-sdk-4.5')],
];

/**
 * Versions with different protocols: 4.0 sends a batch in one request, 4.4 sends no task identifiers, 4.5 and later upload large payloads
 * separately. Versions in between are tested in a long run.
 */
export const versions: readonly Version[] = [oldest, ...(isLong ? between : []), newest];
