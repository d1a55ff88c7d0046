import { z } from 'zod';
import { operation } from '../operation.ts';
import { date } from './shapes.ts';

/** Maximum versions in the response. */
export const maxErrorVersions = 100;

/** The occurrences of an error group on a version. */
export const errorVersion = z.object({
  version: z.string(),
  /** Covers all time. */
  count: z.number().int(),
  firstSeen: date,
  lastSeen: date,
});
export type ErrorVersion = z.infer<typeof errorVersion>;

export const listErrorVersions = operation({
  id: 'listErrorVersions',
  method: 'GET',
  path: '/api/v1/errors/:errorId/versions',
  tag: 'errors',
  summary: 'List the versions that an error group occurred on, with the version that introduced it',
  access: { secretKey: true, action: 'read', on: 'errors' },
  params: z.object({ errorId: z.string().min(1) }),
  reply: z.object({
    /** The version of its first occurrence. Null if none of its runs had a version. */
    introducedIn: z
      .object({
        version: z.string(),
        /** The version before: the newest older one that has been current; for the canary, the current version. Null if there is none. */
        previous: z.string().nullable(),
      })
      .nullable(),
    /** The 100 newest versions on which it occurred, newest first. */
    data: z.array(errorVersion),
  }),
  errors: [404],
});
