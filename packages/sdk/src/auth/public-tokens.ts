import { currentClient } from '../client/current-client.ts';
import { scopeTexts, type PublicTokenScopes } from './scopes.ts';

/** The lifetime of a public token and other options. */
export interface PublicTokenOptions {
  /**
   * A time span such as `15m` or `2 hours`, a date, or seconds since 1970. Default 15 minutes, or one hour where a scope is one of sessions; at
   * most 30 days, 24 hours in the code of a run.
   */
  expirationTime?: string | number | Date;
  /** Live subscriptions made with the token leave these columns out. */
  realtime?: { skipColumns?: readonly string[] };
}

export interface CreatePublicTokenOptions extends PublicTokenOptions {
  /** At least one. Each must be within what the calling key may do; in the code of a run each names an object by its id. */
  scopes: PublicTokenScopes;
}

export interface CreateTriggerPublicTokenOptions extends PublicTokenOptions {
  /** The token may be used more than once. Default false. */
  multipleUse?: boolean;
}

async function create(
  scopes: readonly string[],
  { expirationTime, realtime }: PublicTokenOptions,
  oneTimeUse: boolean,
): Promise<string> {
  const { token } = await currentClient().call('createPublicToken', {
    body: {
      scopes,
      expirationTime:
        expirationTime instanceof Date ? Math.floor(expirationTime.getTime() / 1_000) : expirationTime,
      ...(oneTimeUse && { oneTimeUse }),
      realtime,
    },
  });
  return token;
}

/**
 * Creates a public access token for a browser, or another client that must not have a key. It expires, and it ends with the key that
 * created it.
 *
 * Throws a PermissionDeniedError when a scope exceeds what the key may do (`body.deniedScopes` names them), a BadRequestError
 * when there is no scope or the time cannot be.
 *
 * @example
 * const token = await auth.createPublicToken({ scopes: { read: { runs: run.id } }, expirationTime: '1h' });
 */
async function createPublicToken(options: CreatePublicTokenOptions): Promise<string> {
  return create(scopeTexts(options.scopes), options, false);
}

/**
 * Makes a public access token that may trigger the task, or one of the tasks: once, unless `multipleUse` says otherwise. A
 * request that is refused does not use it up; a second use fails with an UnprocessableEntityError.
 *
 * @example
 * const token = await auth.createTriggerPublicToken('resize-image', { expirationTime: '10m' });
 */
async function createTriggerPublicToken(
  task: string | readonly string[],
  options: CreateTriggerPublicTokenOptions = {},
): Promise<string> {
  return create(scopeTexts({ trigger: { tasks: task } }), options, !options.multipleUse);
}

/** As `createTriggerPublicToken`, for batches of the task or the tasks. */
async function createBatchTriggerPublicToken(
  task: string | readonly string[],
  options: CreateTriggerPublicTokenOptions = {},
): Promise<string> {
  return create(scopeTexts({ batchTrigger: { tasks: task } }), options, !options.multipleUse);
}

/** Public access tokens. */
export const publicTokens = { createPublicToken, createTriggerPublicToken, createBatchTriggerPublicToken };
