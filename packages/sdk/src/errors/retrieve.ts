import { currentClient } from '../client/current-client.ts';
import { errorId, fromWire, type ErrorGroupDetail, type ErrorReference } from './error-group.ts';
import { trendFromWire, type ErrorTrend } from './trend.ts';

/** Data to return in addition to the state of an error group. */
export interface RetrieveErrorOptions {
  /** How often it occurred over this period, in intervals up to now: a number and s, m, h, d or w, such as `24h`. */
  trend?: string;
}

/**
 * One error group with its state, and its trend if a period is given. Throws a NotFoundError for an unknown group, and a BadRequestError for an
 * invalid period.
 *
 * @example
 * const { status, affectedVersions } = await errors.retrieve('error_0123456789abcdef');
 *
 * @example
 * const { trend } = await errors.retrieve('error_0123456789abcdef', { trend: '24h' });
 */
export async function retrieve(
  error: ErrorReference,
  options: RetrieveErrorOptions = {},
): Promise<ErrorGroupDetail & { readonly trend?: ErrorTrend }> {
  const params = { errorId: errorId(error) };
  const query = { trend: options.trend };
  const { trend, ...group } = await currentClient().call('retrieveError', { params, query });
  return { ...fromWire(group), ...(trend && { trend: trendFromWire(trend) }) };
}
