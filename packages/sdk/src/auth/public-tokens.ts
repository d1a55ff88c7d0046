import { currentClient } from '../client/current-client.ts';
import { scopeTexts, type PublicTokenScopes } from './scopes.ts';

/** The lifetime of a public token and other options. */
export interface PublicTokenOptions {
  /**
   * A time span such as `15m` or `2 hours`, a date, or seconds since 1970. Default 15 minutes, or one hour if any scope is for sessions. At
   * most 30 days, or 24 hours in the code of a run.
   */
  expirationTime?: string | number | Date;
  /** Columns omitted from live subscriptions created with the token. */
  realtime?: { skipColumns?: readonly string[] };
}

export interface CreatePublicTokenOptions extends PublicTokenOptions {
  /** At least one. Each must be within the permissions of the calling key; in the code of a run each must name an object by its id. */
  scopes: PublicTokenScopes;
}

export interface CreateTriggerPublicTokenOptions extends PublicTokenOptions {
  /** Whether the token may be used more than once. Default false. */
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
 * Creates a public access token for a browser, or for another client that must not have a key. It expires after a set time, and earlier if the
 * key that created it is revoked.
 *
 * Throws a PermissionDeniedError when a scope exceeds the permissions of the key (`body.deniedScopes` names the scopes), and a BadRequestError
 * when there is no scope or the expiration time is invalid.
 *
 * @example
 * const token = await auth.createPublicToken({ scopes: { read: { runs: run.id } }, expirationTime: '1h' });
 */
async function createPublicToken(options: CreatePublicTokenOptions): Promise<string> {
  return create(scopeTexts(options.scopes), options, false);
}

/**
 * Creates a public access token that may trigger the task, or one of the tasks: once, unless `multipleUse` is set. A rejected request does not
 * use up the token; a second use fails with an UnprocessableEntityError.
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

/** Like `createTriggerPublicToken`, for batches of the task or tasks. */
async function createBatchTriggerPublicToken(
  task: string | readonly string[],
  options: CreateTriggerPublicTokenOptions = {},
): Promise<string> {
  return create(scopeTexts({ batchTrigger: { tasks: task } }), options, !options.multipleUse);
}

export const publicTokens = { createPublicToken, createTriggerPublicToken, createBatchTriggerPublicToken };
