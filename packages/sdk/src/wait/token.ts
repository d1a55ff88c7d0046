import type { Operations, Reply, WaitpointToken as WireToken } from '@millrace/contract';
import type { ApiClient } from '../client/api-client.ts';
import { codecOf } from '../sealing/codec.ts';
import { decodeOpened } from '../sealing/values.ts';

type DateField = 'createdAt' | 'completedAt' | 'timeoutAt' | 'idempotencyKeyExpiresAt';

/** A token that runs can wait for. */
export type WaitpointToken = {
  [K in keyof WireToken]: K extends DateField ? Date | Extract<WireToken[K], undefined> : WireToken[K];
};

/** A token, and once it is over what it was completed with. */
export interface RetrievedToken extends WaitpointToken {
  /** What it was completed with. */
  output?: unknown;
  /** Of one that timed out. */
  error?: Error;
  /** The runs that wait for it now, at most 50. */
  waitingRuns?: readonly { readonly id: string; readonly taskIdentifier: string }[];
}

/** A token that was created. */
export interface CreatedToken {
  /** `waitpoint_…` */
  readonly id: string;
  /** True when an idempotency key found a token that was there already. */
  readonly isCached: boolean;
  /** A POST to it completes the token, without a credential; its body is what the token is completed with. */
  readonly url: string;
  /** For a frontend that is to complete it; good for 24 hours. Undefined when the server sent none. */
  readonly publicAccessToken: string | undefined;
}

/** A token by its id (`waitpoint_…`) or as it was created or found. */
export type TokenReference = string | { readonly id: string };

/** Checks what a caller without types may hand over. */
export function tokenId(token: TokenReference): string {
  const id: unknown = typeof token === 'string' ? token : (token as { id?: unknown } | undefined)?.id;
  if (typeof id === 'string' && /^[\w-]{1,128}$/.test(id)) return id;
  throw new TypeError('A token is named by its id (waitpoint_…) or by what wait.createToken returned.');
}

/** Nobody completed the token in its time. */
export class WaitTimeoutError extends Error {
  override readonly name = 'WaitTimeoutError';
}

const dateFields: readonly DateField[] = ['createdAt', 'completedAt', 'timeoutAt', 'idempotencyKeyExpiresAt'];

export function fromWire(wire: WireToken): WaitpointToken {
  const copy: Record<string, unknown> = { ...wire };
  for (const field of dateFields) if (wire[field] !== undefined) copy[field] = new Date(wire[field]);
  return copy as WaitpointToken;
}

/** A token as it is retrieved, in the clear. Throws a SealedError for data that cannot be opened. */
export async function fromRetrieved(
  client: ApiClient,
  wire: Reply<Operations['retrieveWaitpointToken']>,
): Promise<RetrievedToken> {
  const { output, outputType: _, outputIsError, ...token } = wire;
  const value: unknown = await decodeOpened(
    () => codecOf(client),
    output ?? null,
    'application/json',
    `token ${wire.id}`,
  );
  if (outputIsError !== true) return { ...fromWire(token), output: value };
  const { message } = value as { message: string };
  return { ...fromWire(token), error: new WaitTimeoutError(message) };
}
