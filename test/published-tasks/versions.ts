import { isLong } from '../support/long.ts';
import type { How } from './serve.ts';

/** The minor versions that are tried, and the name under which each is installed in this repository. */
export const versions = [
  ['4.0', 'published-sdk-4.0'],
  ['4.4', 'published-sdk-4.4'],
  ['4.5', 'published-sdk-4.5'],
  ['4.8', '@trigger.dev/sdk'],
] as const;
export type Minor = (typeof versions)[number][0];

/** In which version and how tasks are executed: in all, and in both ways, in a long run. */
export const tried: readonly (readonly [Minor, How])[] = isLong
  ? versions.flatMap(([minor]) => [[minor, 'dev'] as const, [minor, 'prod'] as const])
  : [
      ['4.0', 'dev'],
      ['4.8', 'prod'],
    ];

/** The ways in which a project of the newest version is executed: in both in a long run, elsewhere as a deployment, which does more. */
export const ways: readonly How[] = isLong ? ['dev', 'prod'] : ['prod'];
