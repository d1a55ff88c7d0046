import type { OperationDeclaration } from '@millrace/contract';
import type { FastifyRequest } from 'fastify';
import type { Environment, Principal } from '../auth/principal.ts';
import type { Share } from './admission.ts';

/** The minimum cost of an operation, because a query holds one of the eight connections for requests. */
const queryUnits = 8;
/**
 * Each time a body exceeds another multiple of this many bytes, it costs another unit. A trigger has a few hundred bytes; a request with
 * many triggers writes as many rows.
 */
const bytesPerUnit = 4_096;

/** Operations other than triggers whose rows are written in groups, without a separate connection. */
const grouped: ReadonlySet<string> = new Set([
  'appendToRunStream',
  'appendToSessionIn',
  'appendToSessionOut',
  'appendToSideIn',
  'appendToSideOut',
  'sendEvent',
  'sendEvents',
  'sendToInputStream',
  'writeRunStream',
  'writeSessionOut',
  'writeSideOut',
]);

/** Returns a function that estimates a request of the operation, in units of `AdmissionLimits`. */
export function costOf({ id, storesRequestKey }: OperationDeclaration): (request: FastifyRequest) => number {
  const base = storesRequestKey || grouped.has(id) ? 1 : queryUnits;
  return ({ body }) => base + unitsOf(typeof body === 'string' || body instanceof Buffer ? body.length : 0);
}

/** An estimate for an append of the S2 protocol. */
export const costOfAppend = (records: readonly { readonly body: Uint8Array }[]): number =>
  1 + unitsOf(records.reduce((bytes, { body }) => bytes + body.length, 0));

/** An estimate for a request to a webhook, which is written in a group. */
export const costOfWebhook = (body: Buffer): number => 1 + unitsOf(body.length);

const unitsOf = (bytes: number): number => Math.floor(bytes / bytesPerUnit);

/** Production requests take precedence over those of other environments, in this proportion. */
const productionWeight = 4;

/**
 * An environment is a tenant. So is a user, whose pages must load while an environment floods the server, and an address without a
 * credential.
 */
export function shareOf(principal: Principal | null, ip = ''): Share {
  if (principal === null) return { key: `address ${ip}`, weight: 1 };
  if (principal.kind === 'browser' || principal.kind === 'personalAccessToken')
    return { key: `user ${principal.userId}`, weight: 1 };
  return shareOfEnvironment(principal.environment);
}

export const shareOfEnvironment = ({ id, kind }: Environment): Share => ({
  key: id,
  weight: kind === 'prod' ? productionWeight : 1,
});
