import type { ErrorVersion as WireVersion } from '@millrace/contract';
import { currentClient } from '../client/current-client.ts';
import { errorId, type ErrorReference } from './error-group.ts';

/** The occurrences of an error group on a version. `count` covers all time. */
export type ErrorVersion = Omit<WireVersion, 'firstSeen' | 'lastSeen'> & {
  readonly firstSeen: Date;
  readonly lastSeen: Date;
};

/** The versions that an error group occurred on. */
export interface ErrorVersions {
  /** The version of its first occurrence, and the version before that one. Null if none of its runs had a version. */
  readonly introducedIn: { readonly version: string; readonly previous: string | null } | null;
  /** The 100 newest versions on which it occurred, newest first. */
  readonly data: readonly ErrorVersion[];
}

/**
 * The versions that an error group occurred on, newest first, and the one that introduced it. Throws a NotFoundError for an unknown group.
 *
 * @example
 * const { introducedIn } = await errors.versions('error_0123456789abcdef');
 * if (introducedIn) console.log(await deployments.compare(introducedIn.version));
 */
export async function versions(error: ErrorReference): Promise<ErrorVersions> {
  const params = { errorId: errorId(error) };
  const { introducedIn, data } = await currentClient().call('listErrorVersions', { params });
  return {
    introducedIn,
    data: data.map((item) => ({
      ...item,
      firstSeen: new Date(item.firstSeen),
      lastSeen: new Date(item.lastSeen),
    })),
  };
}
