import { currentClient } from '../client/current-client.ts';

/**
 * The IANA time zones that schedules support, UTC first unless it is excluded.
 *
 * @example
 * const { timezones } = await schedules.timezones({ excludeUtc: true });
 */
export const timezones = async ({ excludeUtc = false }: { excludeUtc?: boolean } = {}): Promise<{
  readonly timezones: readonly string[];
}> => currentClient().call('listTimezones', { query: { excludeUtc: excludeUtc ? 'true' : undefined } });
