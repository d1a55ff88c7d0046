import { currentRun, executesRuns, type RunScope } from '../run-scope.ts';
import type { Codec } from '../sealing/codec.ts';
import { explained } from '../explained.ts';

/** The server address and the credential of a client. Omitted settings come from the environment. */
export interface ClientSettings {
  /** Address of the server; may include a path prefix. Default: `MILLRACE_API_URL`. */
  baseURL?: string;
  /** A secret key, a personal access token or a public access token. Takes precedence over `secretKey`. */
  accessToken?: string;
  /** An environment's secret key (`svc_…`). Default: `MILLRACE_SECRET_KEY`, then `MILLRACE_ACCESS_TOKEN`. */
  secretKey?: string;
  /**
   * The preview branch for calls with a key of the preview environment. Default: `MILLRACE_PREVIEW_BRANCH`, which is set in runs of a branch;
   * with a preview key also `VERCEL_GIT_COMMIT_REF`, which Vercel sets.
   */
  previewBranch?: string;
  /**
   * The agent on whose behalf the program makes calls, such as `support-bot/3`. Changes made with a secret key are recorded under this name
   * in the audit log. 1 to 128 characters of plain ASCII. Default: none.
   */
  agent?: string;
  /**
   * Seals payloads and other data that leaves this process, and opens data that comes back (see docs/encryption.md). `null` disables the
   * codec of the process. Default: that of `configure`, otherwise that of the project that the process executes.
   */
  codec?: Codec | null;
  /** How failed requests are retried, and for how long calls wait for a server that is unavailable. */
  retry?: RequestRetryOptions;
  /** Milliseconds allowed for one attempt of a request. Default 60,000. */
  timeoutInMs?: number;
}

/** Retries of requests, on connection failures and on statuses 408, 409, 429 and 500 or above. Delays are in milliseconds. */
export interface RequestRetryOptions {
  /** The number of attempts, including the first. Default 5; 1 disables retries. */
  maxAttempts?: number;
  /** Delay after the first attempt. Default 1,000. */
  minTimeoutInMs?: number;
  /** Each delay is the previous one multiplied by this. Default 1.6. */
  factor?: number;
  /** The maximum delay. Default 30,000. */
  maxTimeoutInMs?: number;
  /**
   * How long a call is repeated while the server is unavailable, from the first failure: no connection, or status 502, 503 or 504,
   * including from a proxy. The number of attempts is not limited then; the delays are at most 5 s, plus up to half of that at random,
   * unless `Retry-After` requests more. Applies to all calls that are safe to repeat: triggers, batches, reads and most others. 0 disables
   * it. Default 60,000, or 0 if `maxAttempts` is set.
   */
  maxOutageInMs?: number;
}

export type RequestRetry = Readonly<Required<RequestRetryOptions>>;

export interface ResolvedSettings {
  readonly baseURL: string;
  /** The given credential, or that of the process. Undefined if only runs have one. */
  readonly accessToken: string | undefined;
  readonly previewBranch: string | undefined;
  readonly agent: string | undefined;
  readonly retry: RequestRetry;
  readonly timeoutInMs: number;
  /** Whether no credential was given. Calls then use the credential of the current run or, outside of runs, that of the process. */
  readonly isAmbient: boolean;
}

/** The client has no address or no credential, or an invalid one. The message names the setting. */
export class ConfigurationError extends Error {
  override readonly name = 'ConfigurationError';
}

type Variables = Readonly<Record<string, string | undefined>>;

// Browsers have no `process`.
const processVariables = (): Variables =>
  (globalThis as { process?: { env?: Variables } }).process?.env ?? {};

const filled = (text: string | undefined): string | undefined => text?.trim() || undefined;

function checkedBaseURL(text: string | undefined): string {
  if (text === undefined) {
    throw new ConfigurationError(
      explained(
        'No server address: set MILLRACE_API_URL, or call configure({ baseURL }). `millrace dev` prints the address of its server.',
        'no-server-is-configured',
      ),
    );
  }
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (!url || !/^https?:$/.test(url.protocol)) {
    throw new ConfigurationError(
      explained(
        `baseURL (MILLRACE_API_URL) must be an http or https address such as https://millrace.example.com; got ${JSON.stringify(text)}.`,
        'no-server-is-configured',
      ),
    );
  }
  if (url.username || url.password) {
    throw new ConfigurationError(
      explained(
        'baseURL (MILLRACE_API_URL) must not contain a user name or password; set the credential in MILLRACE_SECRET_KEY.',
        'no-server-is-configured',
      ),
    );
  }
  return url.origin + url.pathname.replace(/\/+$/, '');
}

function checkedToken(text: string | undefined): string {
  if (text === undefined) {
    throw new ConfigurationError(
      explained(
        "No secret key: set MILLRACE_SECRET_KEY to an environment's secret key (svc_…) or MILLRACE_ACCESS_TOKEN to a personal " +
          'access token, or call configure({ secretKey }). `millrace dev` prints the keys of its project.',
        'no-server-is-configured',
      ),
    );
  }
  if (!/^[\x21-\x7e]+$/.test(text)) {
    throw new ConfigurationError(
      explained(
        'The secret key or access token contains a space or a character that is not valid in a key; copy it again, without quotes.',
        'invalid-credential',
      ),
    );
  }
  return text;
}

function checkedBranch(text: string | undefined): string | undefined {
  if (text !== undefined && !/^[\x20-\x7e]+$/.test(text)) {
    throw new ConfigurationError(
      `previewBranch (MILLRACE_PREVIEW_BRANCH) must be plain ASCII; got ${JSON.stringify(text)}.`,
    );
  }
  return text;
}

function checkedAgent(text: string | undefined): string | undefined {
  if (text !== undefined && !/^[\x20-\x7e]{1,128}$/.test(text)) {
    throw new ConfigurationError(
      `agent must be 1 to 128 characters of plain ASCII, such as support-bot/3; got ${JSON.stringify(text)}.`,
    );
  }
  return text;
}

function checkedOutage(ms: number): number {
  if (typeof ms !== 'number' || !(ms >= 0)) {
    throw new ConfigurationError(
      `retry.maxOutageInMs must be a number of milliseconds, 0 or more; got ${JSON.stringify(ms)}.`,
    );
  }
  return ms;
}

/** Fills in omitted settings from the environment, then from the defaults, and rejects invalid ones. */
export function resolveSettings(
  settings: ClientSettings,
  variables: Variables = processVariables(),
): ResolvedSettings {
  const explicit = filled(settings.accessToken) ?? filled(settings.secretKey);
  const token =
    explicit ?? filled(variables['MILLRACE_SECRET_KEY']) ?? filled(variables['MILLRACE_ACCESS_TOKEN']);
  // In that case, whether there is a credential is known only when a call is made.
  const accessToken = token === undefined && executesRuns() ? undefined : checkedToken(token);
  const {
    maxAttempts = 5,
    minTimeoutInMs = 1_000,
    factor = 1.6,
    maxTimeoutInMs = 30_000,
    maxOutageInMs = settings.retry?.maxAttempts === undefined ? 60_000 : 0,
  } = settings.retry ?? {};
  return {
    baseURL: checkedBaseURL(filled(settings.baseURL) ?? filled(variables['MILLRACE_API_URL'])),
    accessToken,
    previewBranch: checkedBranch(
      filled(settings.previewBranch) ??
        filled(variables['MILLRACE_PREVIEW_BRANCH']) ??
        (/^(?:svc|tr)_preview_/.test(accessToken ?? '')
          ? filled(variables['VERCEL_GIT_COMMIT_REF'])
          : undefined),
    ),
    agent: checkedAgent(settings.agent),
    retry: {
      maxAttempts,
      minTimeoutInMs,
      factor,
      maxTimeoutInMs,
      maxOutageInMs: checkedOutage(maxOutageInMs),
    },
    timeoutInMs: settings.timeoutInMs ?? 60_000,
    isAmbient: explicit === undefined,
  };
}

/** The run whose credential a call made now would use. Undefined for clients with their own credential. */
export function runOf({ isAmbient }: Pick<ResolvedSettings, 'isAmbient'>): RunScope | undefined {
  const run = isAmbient ? currentRun() : undefined;
  return run?.credential && run;
}

/** The credential for a call made now; synchronous when it is already known. */
export function accessTokenOf(settings: ResolvedSettings): string | Promise<string> {
  const { accessToken = '' } = settings;
  const run = runOf(settings);
  if (run?.credential) return run.credential();
  if (accessToken !== '') return accessToken;
  throw new ConfigurationError(
    explained(
      'There is no credential here: the process that executes tasks has no MILLRACE_SECRET_KEY. Call the API in the code of a run, ' +
        'which has its own credential, not while a file is imported; or pass a key with configure({ secretKey }) or auth.withAuth.',
      'no-credential-in-a-task',
    ),
  );
}
