import { storedType, type OperationDeclaration } from '@millrace/contract';
import { isUser } from '../../auth/principal.ts';
import { allows, isUnrestricted } from '../../auth/scopes.ts';
import type { Queryable } from '../../db/connect.ts';
import { uploaderOf } from '../../payloads/uploader.ts';
import { forbidden } from '../../problem.ts';
import type { Request } from '../../request.ts';
import { identitiesOfPacket } from '../access/authorize.ts';

interface PayloadInput {
  readonly payload?: unknown;
  readonly payloadType?: string | undefined;
}

/** The payload of a trigger or of a batch item, with its type. */
export const payloadOf = ({
  payload,
  options,
}: {
  readonly payload?: unknown;
  readonly options?: { readonly payloadType?: string | undefined } | undefined;
}): PayloadInput => ({ payload, payloadType: options?.payloadType });

/**
 * Throws 403 unless the caller may use the packet as the payload of a run, since permission to read the run then includes the packet. Allowed
 * if the caller uploaded it, or may read a run that has it. Only authorized callers can find out whether the packet exists.
 */
export async function authorizePacket(
  sql: Queryable,
  { principal, environment }: Pick<Request<OperationDeclaration>, 'principal' | 'environment'>,
  { payload, payloadType }: PayloadInput,
): Promise<void> {
  if (payloadType !== storedType || typeof payload !== 'string') return;
  if (isUser(principal) || isUnrestricted(principal.scopes)) return;
  if (payload.includes('\0')) throw forbidden();
  const [packet] = await sql<{ uploaded_by: string | null }[]>`
    select uploaded_by from packets where env = ${environment.id} and name = ${payload}`;
  if (packet && packet.uploaded_by === uploaderOf(principal)) return;
  const readable = [{ type: 'runs' }, ...(await identitiesOfPacket(sql, environment.id, payload))];
  if (!allows(principal.scopes, 'read', readable)) throw forbidden();
}
