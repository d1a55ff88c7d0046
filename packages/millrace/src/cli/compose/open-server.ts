import { isIP } from 'node:net';
import { checkedEndpoint, defaultRateLimits, startServer, type RunningServer } from '@millrace/server';
import { CommandFailed, exitCodes } from '../exit-codes.ts';
import { bytes, listenAddress, type ListenAddress } from '../options.ts';
import { bundleStore } from './bundle-store.ts';
import { explainListen } from './listen-failure.ts';
import { oidcSettings } from './oidc.ts';

type ServerOptions = Parameters<typeof startServer>[0];

/** Starts the server; throws a one-sentence error if that fails. */
export async function openServer(options: ServerOptions): Promise<RunningServer> {
  try {
    const notificationNetworks = [...(options.notificationNetworks ?? []), ...networks()];
    return await startServer({
      leaseTimes: leaseTimes(),
      rateLimits: rateLimits(),
      admissionLimits: admissionLimits(),
      trustedProxies: trustedProxies(),
      basePath: basePath(),
      metrics: metrics(),
      tenancyLimits: tenancyLimits(),
      maxBundleBytes: maxBundleBytes(),
      bundleStore: bundleStore(process.env),
      codecEndpoint: codecEndpoint(),
      oidc: oidcSettings(process.env),
      ...options,
      notificationNetworks,
    });
  } catch (error) {
    const sentence = explainListen(error as NodeJS.ErrnoException, options.host ?? '127.0.0.1', options.port);
    throw sentence === undefined ? error : new CommandFailed(exitCodes.cannotStart, sentence);
  }
}

/** The lease time of runs (MILLRACE_LEASE_SECONDS, default 30). Runners send three heartbeats per lease. */
function leaseTimes(): ServerOptions['leaseTimes'] {
  const text = process.env['MILLRACE_LEASE_SECONDS'];
  if (text === undefined || text.trim() === '') return {};
  const seconds = Number(text);
  if (!(seconds >= 1 && seconds <= 3_600)) {
    throw new CommandFailed(
      exitCodes.usage,
      'MILLRACE_LEASE_SECONDS must be a number of seconds between 1 and 3600.',
    );
  }
  return { leaseMs: seconds * 1_000, heartbeatMs: (seconds * 1_000) / 3 };
}

/** The address through which the dashboard opens sealed data (MILLRACE_CODEC_ENDPOINT). Default: none. */
function codecEndpoint(): string | undefined {
  const text = process.env['MILLRACE_CODEC_ENDPOINT']?.trim() ?? '';
  if (text === '') return undefined;
  try {
    return checkedEndpoint(text);
  } catch (error) {
    throw new CommandFailed(exitCodes.usage, (error as Error).message);
  }
}

/**
 * The rate limit for all keys of one environment together (MILLRACE_KEY_RATE, such as `750/25`: burst and requests per second).
 * Default: unlimited.
 */
function rateLimits(): ServerOptions['rateLimits'] {
  const text = process.env['MILLRACE_KEY_RATE']?.trim() ?? '';
  if (text === '') return defaultRateLimits;
  const [, burst, perSecond] = /^([1-9]\d{0,6})\/([1-9]\d{0,6})$/.exec(text) ?? [];
  if (burst === undefined) {
    throw new CommandFailed(
      exitCodes.usage,
      'MILLRACE_KEY_RATE must be two whole numbers, such as 750/25: the burst, and the requests per second after it.',
    );
  }
  return { ...defaultRateLimits, secretKey: { burst: Number(burst), perSecond: Number(perSecond) } };
}

/** How long a request waits for admission before it is rejected (MILLRACE_MAX_QUEUE_SECONDS, default 2). */
function admissionLimits(): NonNullable<ServerOptions['admissionLimits']> {
  const text = process.env['MILLRACE_MAX_QUEUE_SECONDS']?.trim() ?? '';
  if (text === '') return {};
  const seconds = Number(text);
  if (!(seconds >= 0.1 && seconds <= 60)) {
    throw new CommandFailed(
      exitCodes.usage,
      'MILLRACE_MAX_QUEUE_SECONDS must be a number of seconds between 0.1 and 60.',
    );
  }
  return { maxWaitMs: seconds * 1_000 };
}

/** Maximum number of organizations that a user owns, and of projects in an organization (MILLRACE_MAX_ORGANIZATIONS, MILLRACE_MAX_PROJECTS). */
function tenancyLimits(): NonNullable<ServerOptions['tenancyLimits']> {
  const organizations = count('MILLRACE_MAX_ORGANIZATIONS');
  const projects = count('MILLRACE_MAX_PROJECTS');
  return {
    ...(organizations !== undefined && { organizations }),
    ...(projects !== undefined && { projects }),
  };
}

function count(variable: string): number | undefined {
  const text = process.env[variable]?.trim() ?? '';
  if (text === '') return undefined;
  if (/^\d{1,5}$/.test(text) && Number(text) >= 1 && Number(text) <= 10_000) return Number(text);
  throw new CommandFailed(exitCodes.usage, `${variable} must be a number between 1 and 10000.`);
}

/** Maximum total size of the files of a deployment, compressed (MILLRACE_MAX_BUNDLE, such as `256MiB`). */
function maxBundleBytes(): ServerOptions['maxBundleBytes'] {
  const text = process.env['MILLRACE_MAX_BUNDLE']?.trim() ?? '';
  if (text === '') return undefined;
  try {
    return bytes(text);
  } catch (error) {
    throw new CommandFailed(exitCodes.usage, `MILLRACE_MAX_BUNDLE: ${(error as Error).message}`);
  }
}

/** Address, token and number of series of the metrics (MILLRACE_METRICS_ADDRESS, …_TOKEN, …_MAX_NAMES). */
function metrics(): NonNullable<ServerOptions['metrics']> {
  const address = process.env['MILLRACE_METRICS_ADDRESS']?.trim() ?? '';
  const token = process.env['MILLRACE_METRICS_TOKEN']?.trim() ?? '';
  if (token !== '' && !/^[!-~]{16,}$/.test(token)) {
    throw new CommandFailed(
      exitCodes.usage,
      'MILLRACE_METRICS_TOKEN must be 16 or more characters without spaces (`openssl rand -hex 16`).',
    );
  }
  const maxNames = count('MILLRACE_METRICS_MAX_NAMES');
  return {
    ...(maxNames !== undefined && { maxNames }),
    ...(address !== '' && { address: metricsAddress(address) }),
    ...(token !== '' && { token }),
  };
}

function metricsAddress(text: string): ListenAddress {
  try {
    return listenAddress(text);
  } catch (error) {
    throw new CommandFailed(exitCodes.usage, `MILLRACE_METRICS_ADDRESS: ${(error as Error).message}`);
  }
}

/** The path below which a proxy publishes the server (MILLRACE_BASE_PATH, such as `/millrace`). */
function basePath(): string | undefined {
  const text = process.env['MILLRACE_BASE_PATH']?.trim().replace(/\/+$/, '') ?? '';
  if (text === '') return undefined;
  if (/^(?:\/[A-Za-z0-9_~-][A-Za-z0-9._~-]*)+$/.test(text)) return text;
  throw new CommandFailed(
    exitCodes.usage,
    'MILLRACE_BASE_PATH must be a path such as /millrace: a slash, then letters, digits, dots, _, ~ and -.',
  );
}

/** Allowed private networks for notifications (MILLRACE_NOTIFICATION_NETWORKS, such as `10.0.0.0/8,fd00::/8`). */
const networks = (): string[] => listIn('MILLRACE_NOTIFICATION_NETWORKS');

/** Proxies whose `X-Forwarded-For` is trusted (MILLRACE_TRUSTED_PROXIES, such as `10.0.0.0/8,fd00::/8`). */
function trustedProxies(): string[] {
  const ranges = listIn('MILLRACE_TRUSTED_PROXIES');
  const wrong = ranges.find((range) => {
    const [address = '', bits, ...more] = range.split('/');
    const max = isIP(address) === 6 ? 128 : 32;
    const isBits = bits === undefined || (/^\d{1,3}$/.test(bits) && Number(bits) >= 1 && Number(bits) <= max);
    return isIP(address) === 0 || !isBits || more.length > 0;
  });
  if (wrong === undefined) return ranges;
  throw new CommandFailed(
    exitCodes.usage,
    `MILLRACE_TRUSTED_PROXIES: "${wrong}" is neither an address nor a range such as 10.0.0.0/8,fd00::/8.`,
  );
}

const listIn = (variable: string): string[] =>
  (process.env[variable] ?? '')
    .split(',')
    .map((range) => range.trim())
    .filter((range) => range !== '');
