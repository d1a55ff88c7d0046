import { ApiClient } from '../client/api-client.ts';
import { currentSettings } from '../client/current-client.ts';
import { throughout } from '../client/override.ts';
import type { ClientSettings } from '../client/settings.ts';

/**
 * Runs `act` with other settings: they hold for the calls made inside it, and for no other, also while other parts of the program
 * make calls at the same time. What is not given stays as it was outside. Gives back what `act` does.
 *
 * Outside of Node, Bun and Deno there is nothing that tells calls inside from others made meanwhile: there the settings hold for
 * the whole program until `act` is done, and a second `withAuth` at the same time is refused. Prefer `new MillraceClient` there.
 *
 * @example
 * await auth.withAuth({ accessToken: token }, () => runs.retrieve('run_…'));
 */
export async function withAuth<R>(settings: ClientSettings, act: () => R | Promise<R>): Promise<R> {
  const { accessToken, secretKey, ...outer } = currentSettings();
  // The two name one thing: either of the new ones takes the place of both.
  const credential =
    settings.accessToken === undefined && settings.secretKey === undefined ? { accessToken, secretKey } : {};
  return throughout(new ApiClient({ ...outer, ...credential, ...settings }), act);
}
