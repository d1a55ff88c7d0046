import { storedType, type OperationDeclaration } from '@millrace/contract';
import { allows, isUnrestricted } from '../../auth/scopes.ts';
import type { Queryable } from '../../db/connect.ts';
import { uploaderOf } from '../../packets/uploader.ts';
import { forbidden } from '../../problem.ts';
import type { Request } from '../../request.ts';
import { identitiesOfPacket } from '../authorize.ts';

interface Given {
  readonly payload?: unknown;
  readonly payloadType?: string | undefined;
}

/** What a trigger, or an item of a batch, says of its payload. */
export const givenIn = ({
  payload,
  options,
}: {
  readonly payload?: unknown;
  readonly options?: { readonly payloadType?: string | undefined } | undefined;
}): Given => ({ payload, payloadType: options?.payloadType });

/**
 * 403 unless the caller may have the packet that is to be a run's payload: who may read the run reads the packet from then on. It is
 * theirs if they sent it, or may read a run that has it. Whether there is one shows only then.
 */
export async function admitPacket(
  sql: Queryable,
  { principal, environment }: Pick<Request<OperationDeclaration>, 'principal' | 'environment'>,
  { payload, payloadType }: Given,
): Promise<void> {
  if (payloadType !== storedType || typeof payload !== 'string') return;
  if (principal.kind === 'personalAccessToken' || isUnrestricted(principal.scopes)) return;
  if (payload.includes('\0')) throw forbidden();
  const [packet] = await sql<{ uploaded_by: string | null }[]>`
    select uploaded_by from packets where env = ${environment.id} and name = ${payload}`;
  if (packet && packet.uploaded_by === uploaderOf(principal)) return;
  const readable = [{ type: 'runs' }, ...(await identitiesOfPacket(sql, environment.id, payload))];
  if (!allows(principal.scopes, 'read', readable)) throw forbidden();
}
