import { isLong } from '../support/long.ts';

/** The minor versions that are tried, and the name under which each is installed in this repository. */
export const versions = [
  ['4.0', 'published-sdk-4.0'],
  ['4.4', 'published-sdk-4.4'],
  ['4.5', 'published-sdk-4.5'],
  ['4.8', '@trigger.dev/sdk'],
] as const;
export type Minor = (typeof versions)[number][0];

const [oldest, , , newest] = versions;
/** Those whose tasks are executed: all in a long run. */
export const tried: typeof versions | readonly [typeof oldest, typeof newest] = isLong
  ? versions
  : [oldest, newest];
