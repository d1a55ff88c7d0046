import { ApiClient } from './api-client.ts';
import { overridingClient } from './override.ts';
import { configureCodec } from '../sealing/codec.ts';
import type { ClientSettings } from './settings.ts';

let given: ClientSettings = {};
let client: ApiClient | undefined;

/**
 * Sets the address and the credential of all calls that follow in this process. Each call replaces what the one before gave;
 * what is not given comes from `MILLRACE_API_URL`, `MILLRACE_SECRET_KEY`, `MILLRACE_ACCESS_TOKEN` and
 * `MILLRACE_PREVIEW_BRANCH`, read when the first call is made. Where those are set, `configure` is not needed.
 *
 * Nothing but the codec is checked here: a setting that cannot work makes the next call throw a ConfigurationError.
 *
 * @example
 * configure({ baseURL: 'https://millrace.example.com', secretKey: process.env.BILLING_KEY });
 */
export function configure(settings: ClientSettings): void {
  configureCodec(settings.codec);
  given = settings;
  client = undefined;
}

/**
 * The client that a public function works through: that of the part of the program that asks (`auth.withAuth`, a
 * `MillraceClient`), else that of the process. Each asks once, before its first await.
 */
export function currentClient(): ApiClient {
  const overriding = overridingClient();
  if (overriding) return overriding;
  client ??= new ApiClient(given);
  return client;
}

/** The settings that were given for the current client, without what came from the environment. */
export const currentSettings = (): ClientSettings => overridingClient()?.given ?? given;
