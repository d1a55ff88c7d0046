import type { Operations, Reply, WaitpointToken as WireToken } from '@millrace/contract';
import type { ApiClient } from '../client/api-client.ts';
import { codecOf } from '../sealing/codec.ts';
import { decodeOpened } from '../sealing/values.ts';

type DateField = 'createdAt' | 'completedAt' | 'timeoutAt' | 'idempotencyKeyExpiresAt';

/** A token that runs can wait for. */
export type WaitpointToken = {
  [K in Exclude<keyof WireToken, 'details'>]: K extends DateField
    ? Date | Extract<WireToken[K], undefined>
    : WireToken[K];
};

/** A token, with its result once it has ended. */
export interface RetrievedToken extends WaitpointToken {
  /** The data that it was completed with. */
  output?: unknown;
  /** Set if it timed out. */
  error?: Error;
  /** The runs that currently wait for it, at most 50. */
  waitingRuns?: readonly { readonly id: string; readonly taskIdentifier: string }[];
}

/** A newly created token. */
export interface CreatedToken {
  /** `waitpoint_…` */
  readonly id: string;
  /** True when an idempotency key matched an existing token. */
  readonly isCached: boolean;
  /** A POST to it completes the token, without a credential; the request body becomes the data. */
  readonly url: string;
  /** A token with which a frontend may complete it; valid for 24 hours. Undefined when the server sent none. */
  readonly publicAccessToken: string | undefined;
}

/** A token by its id (`waitpoint_…`), or a returned token. */
export type TokenReference = string | { readonly id: string };

/** Validates input from untyped callers. */
export function tokenId(token: TokenReference): string {
  const id: unknown = typeof token === 'string' ? token : (token as { id?: unknown } | undefined)?.id;
  if (typeof id === 'string' && /^[\w-]{1,128}$/.test(id)) return id;
  throw new TypeError('Pass the id of the token (waitpoint_…) or the return value of wait.createToken.');
}

/** The token was not completed in time. */
export class WaitTimeoutError extends Error {
  override readonly name = 'WaitTimeoutError';
}

const dateFields: readonly DateField[] = ['createdAt', 'completedAt', 'timeoutAt', 'idempotencyKeyExpiresAt'];

export function fromWire(wire: WireToken): WaitpointToken {
  const copy: Record<string, unknown> = { ...wire };
  for (const field of dateFields) if (wire[field] !== undefined) copy[field] = new Date(wire[field]);
  return copy as WaitpointToken;
}

/** A decrypted token, as retrieved. Throws a SealedError for data that cannot be opened. */
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
