import { errorOf } from '../client/api-error.ts';

type Members = Readonly<Record<string, unknown>>;

/** Whether it has members. */
export const isObject = (value: unknown): value is Members => typeof value === 'object' && value !== null;

/** Whether it is a list of objects that have a name. */
export const areNamed = (value: unknown): boolean =>
  Array.isArray(value) && value.every((one) => isObject(one) && typeof one['name'] === 'string');

/** Whether it is an object of texts. */
export const areTexts = (value: unknown): boolean =>
  isObject(value) && Object.values(value).every((text) => typeof text === 'string');

/** Whether it is a list of revisions. */
export const areRevisions = (value: unknown): boolean =>
  Array.isArray(value) && value.every((one) => isObject(one) && areNamed(one['changes']));

/** The reply, when it (or the named member of it) has that shape; otherwise throws the UnexpectedReplyError of it. */
export function expected<T>(reply: T, fits: (value: unknown) => boolean, member?: string): T {
  const value: unknown = member === undefined ? reply : isObject(reply) ? reply[member] : undefined;
  if (fits(value)) return reply;
  throw errorOf({ status: 200, text: JSON.stringify(reply) });
}
