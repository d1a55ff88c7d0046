import { ApiClient } from '../client/api-client.ts';
import { currentSettings } from '../client/current-client.ts';
import { throughout } from '../client/override.ts';
import type { ClientSettings } from '../client/settings.ts';

/**
 * Runs `act` with other settings. They apply only to calls inside `act`, even while other parts of the program make calls concurrently. Omitted
 * settings stay unchanged. Returns the result of `act`.
 *
 * Without AsyncLocalStorage (outside Node.js, Bun and Deno) the settings apply to the whole program until `act` has ended, and a second
 * concurrent `withAuth` throws. Prefer `new MillraceClient` there.
 *
 * @example
 * await auth.withAuth({ accessToken: token }, () => runs.retrieve('run_…'));
 */
export async function withAuth<R>(settings: ClientSettings, act: () => R | Promise<R>): Promise<R> {
  const { accessToken, secretKey, ...outer } = currentSettings();
  // Both name the same setting: a new value for either replaces both.
  const credential =
    settings.accessToken === undefined && settings.secretKey === undefined ? { accessToken, secretKey } : {};
  return throughout(new ApiClient({ ...outer, ...credential, ...settings }), act);
}
