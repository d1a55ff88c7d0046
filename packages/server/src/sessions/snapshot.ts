import type { Clock } from '../db/clock.ts';
import type { PacketAddresses } from '../payloads/url.ts';
import { snapshotPrefix } from '../payloads/prune.ts';
import { endOf } from '../auth/principal.ts';
import type { Request } from '../request.ts';
import type { SessionRow } from './row.ts';

/**
 * The address of a session's snapshot: the data from which its task resumes the conversation, as a packet that exists as long as the session.
 */
export function snapshotAddress(
  { clock, addresses }: { readonly clock: Clock; readonly addresses: Pick<PacketAddresses, 'sign'> },
  { baseUrl, principal }: Pick<Request<never>, 'baseUrl' | 'principal'>,
  { env, id }: Pick<SessionRow, 'env' | 'id'>,
  act: 'get' | 'put',
): { readonly presignedUrl: string } {
  const grant = { act, env, name: snapshotPrefix + id } as const;
  return { presignedUrl: baseUrl + addresses.sign(grant, clock.now(), endOf(principal)) };
}
