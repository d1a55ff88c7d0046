import { ApiClient } from './api-client.ts';
import { overridingClient } from './override.ts';
import { configureCodec } from '../sealing/codec.ts';
import type { ClientSettings } from './settings.ts';

let configured: ClientSettings = {};
let client: ApiClient | undefined;

/**
 * Sets the address and the credential of all later calls in this process. Each call replaces the settings of the previous one. Omitted settings
 * come from `MILLRACE_API_URL`, `MILLRACE_SECRET_KEY`, `MILLRACE_ACCESS_TOKEN` and `MILLRACE_PREVIEW_BRANCH`, read when the first call is made.
 * If those are set, `configure` is not needed.
 *
 * Only the codec is checked here: any other invalid setting makes the next call throw a ConfigurationError.
 *
 * @example
 * configure({ baseURL: 'https://millrace.example.com', secretKey: process.env.BILLING_KEY });
 */
export function configure(settings: ClientSettings): void {
  configureCodec(settings.codec);
  configured = settings;
  client = undefined;
}

/**
 * The client for a public function: the one set for the current part of the program (`auth.withAuth`, a `MillraceClient`), otherwise that
 * of the process. Each function reads it once, before its first await.
 */
export function currentClient(): ApiClient {
  const overriding = overridingClient();
  if (overriding) return overriding;
  client ??= new ApiClient(configured);
  return client;
}

/** The settings passed to the current client, without those from the environment. */
export const currentSettings = (): ClientSettings => overridingClient()?.options ?? configured;
