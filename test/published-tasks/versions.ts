import { isLong } from '../support/long.ts';
import type { How } from './serve.ts';

/** The tested minor versions, and the name under which each is installed in this repository. */
export const versions = [
  ['4.0', 'published-sdk-4.0'],
  ['4.4', 'published-sdk-4.4'],
  ['4.5', 'published-sdk-4.5'],
  ['4.8', '@trigger.dev/sdk'],
] as const;
export type Minor = (typeof versions)[number][0];

/** The tested versions and ways to execute tasks. A long run has all versions, in both ways. */
export const tried: readonly (readonly [Minor, How])[] = isLong
  ? versions.flatMap(([minor]) => [[minor, 'dev'] as const, [minor, 'prod'] as const])
  : [
      ['4.0', 'dev'],
      ['4.8', 'prod'],
    ];

/** The ways to execute a project of the newest version: both in a long run, otherwise only as a deployment, which covers more. */
export const ways: readonly How[] = isLong ? ['dev', 'prod'] : ['prod'];
