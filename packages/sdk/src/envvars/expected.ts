import { errorOf } from '../client/api-error.ts';

type Members = Readonly<Record<string, unknown>>;

export const isObject = (value: unknown): value is Members => typeof value === 'object' && value !== null;

/** Whether the value is a list of named objects. */
export const areNamed = (value: unknown): boolean =>
  Array.isArray(value) && value.every((item) => isObject(item) && typeof item['name'] === 'string');

/** Whether the value is an object whose values are strings. */
export const areTexts = (value: unknown): boolean =>
  isObject(value) && Object.values(value).every((text) => typeof text === 'string');

/** Whether the value is a list of revisions. */
export const areRevisions = (value: unknown): boolean =>
  Array.isArray(value) && value.every((item) => isObject(item) && areNamed(item['changes']));

/** The reply, if it (or the named member) has the expected shape; otherwise throws an UnexpectedReplyError. */
export function expected<T>(reply: T, fits: (value: unknown) => boolean, member?: string): T {
  const value: unknown = member === undefined ? reply : isObject(reply) ? reply[member] : undefined;
  if (fits(value)) return reply;
  throw errorOf({ status: 200, text: JSON.stringify(reply) });
}
