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
   * The preview branch that calls are about, for keys of the preview environment. Default: `MILLRACE_PREVIEW_BRANCH`, which runs
   * in a branch have set; with a key of preview also `VERCEL_GIT_COMMIT_REF`, which that host sets.
   */
  previewBranch?: string;
  /**
   * The agent for which the program calls, such as `support-bot/3`: what is changed with a secret key gets an entry with this name in the
   * audit log. 1 to 128 characters of plain ASCII. Default: none.
   */
  agent?: string;
  /**
   * Seals payloads and whatever else leaves this process, and opens what comes back: see docs/encryption.md. `null` switches off the one that
   * the process has. Default: that of `configure`, else that of the project that the process executes.
   */
  codec?: Codec | null;
  /** How a request that failed is tried again. */
  retry?: RequestRetryOptions;
  /** Milliseconds that one attempt of a request may take. Default 60,000. */
  timeoutInMs?: number;
}

/** Retries of requests: on connection failures and on statuses 408, 409, 429 and from 500 up. Delays in milliseconds. */
export interface RequestRetryOptions {
  /** All attempts, the first included. Default 5; 1 is no retry. */
  maxAttempts?: number;
  /** Delay after the first attempt. Default 1,000. */
  minTimeoutInMs?: number;
  /** Each delay is the one before times this. Default 1.6. */
  factor?: number;
  /** No delay is longer. Default 30,000. */
  maxTimeoutInMs?: number;
}

export type RequestRetry = Readonly<Required<RequestRetryOptions>>;

export interface ResolvedSettings {
  readonly baseURL: string;
  /** That was given, or that of the process; undefined where only runs have one. */
  readonly accessToken: string | undefined;
  readonly previewBranch: string | undefined;
  readonly agent: string | undefined;
  readonly retry: RequestRetry;
  readonly timeoutInMs: number;
  /** No credential was given: inside a run it is that of the run, elsewhere that of the process. */
  readonly isAmbient: boolean;
}

/** The client has no address or no credential, or one that cannot be used. The message says what to set. */
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
        'baseURL (MILLRACE_API_URL) must not hold a user name or password; give the credential as MILLRACE_SECRET_KEY.',
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
        'The secret key or access token holds a space or a character that no key has; copy it again, without quotes.',
        'the-key-is-not-known',
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

/** Fills in what is not given from the environment, then the defaults, and refuses what cannot work. */
export function resolveSettings(
  given: ClientSettings,
  variables: Variables = processVariables(),
): ResolvedSettings {
  const explicit = filled(given.accessToken) ?? filled(given.secretKey);
  const token =
    explicit ?? filled(variables['MILLRACE_SECRET_KEY']) ?? filled(variables['MILLRACE_ACCESS_TOKEN']);
  // Whether there is one then shows when a call is made.
  const accessToken = token === undefined && executesRuns() ? undefined : checkedToken(token);
  const {
    maxAttempts = 5,
    minTimeoutInMs = 1_000,
    factor = 1.6,
    maxTimeoutInMs = 30_000,
  } = given.retry ?? {};
  return {
    baseURL: checkedBaseURL(filled(given.baseURL) ?? filled(variables['MILLRACE_API_URL'])),
    accessToken,
    previewBranch: checkedBranch(
      filled(given.previewBranch) ??
        filled(variables['MILLRACE_PREVIEW_BRANCH']) ??
        (/^(?:svc|tr)_preview_/.test(accessToken ?? '')
          ? filled(variables['VERCEL_GIT_COMMIT_REF'])
          : undefined),
    ),
    agent: checkedAgent(given.agent),
    retry: { maxAttempts, minTimeoutInMs, factor, maxTimeoutInMs },
    timeoutInMs: given.timeoutInMs ?? 60_000,
    isAmbient: explicit === undefined,
  };
}

/** The run whose credential calls use that are made now; undefined for calls that have one of their own. */
export function runOf({ isAmbient }: Pick<ResolvedSettings, 'isAmbient'>): RunScope | undefined {
  const run = isAmbient ? currentRun() : undefined;
  return run?.credential && run;
}

/** The credential of a call that is made now; at once where it is known. */
export function accessTokenOf(settings: ResolvedSettings): string | Promise<string> {
  const { accessToken = '' } = settings;
  const run = runOf(settings);
  if (run?.credential) return run.credential();
  if (accessToken !== '') return accessToken;
  throw new ConfigurationError(
    explained(
      'There is no credential here: the process that executes tasks holds no MILLRACE_SECRET_KEY. Call the API in the code of a run, ' +
        'which has one of its own, not while a file is imported; or give a key with configure({ secretKey }) or auth.withAuth.',
      'there-is-no-credential-in-a-task',
    ),
  );
}
