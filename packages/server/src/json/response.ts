/** Stored JSON in replies. A value that exceeds the limits is replaced by a marker, so that it does not break a page or a stream. */
import { maxJsonLevels, maxJsonMembers } from '@millrace/contract';
import { ForeignJsonError, parseForeignJson } from '@millrace/contract/foreign-json';
import { isComposite, isTooDeep } from './levels.ts';

const omitted = (reason: string) => ({ $omitted: reason });
const tooDeep = omitted(`nested more than ${maxJsonLevels} levels deep`);
const tooWide = omitted(`more than ${maxJsonMembers} members`);
const noJson = omitted('not JSON');

/** The value of a stored JSON text, or the part of it that `pick` returns. A marker if it exceeds a limit; `invalid` if it is not JSON. */
export function responseJson(
  text: string,
  invalid: unknown = noJson,
  pick: (value: unknown) => unknown = (value) => value,
): unknown {
  try {
    return pick(parseForeignJson(text, {}));
  } catch (error) {
    if (!(error instanceof ForeignJsonError)) throw error;
    return error.reason === 'depth' ? tooDeep : error.reason === 'members' ? tooWide : invalid;
  }
}

/** Like `responseJson`, for values that must be objects. */
export const responseObject = (text: string): Record<string, unknown> => {
  const value = responseJson(text);
  return isComposite(value) && !Array.isArray(value) ? value : noJson;
};

/** A stored JSON text for clients that parse it. */
export const responseText = (text: string): string => (isTooDeep(text) ? JSON.stringify(tooDeep) : text);

/** Includes the levels around stored JSON in a reply. */
const maxReplyLevels = maxJsonLevels + 32;

/** A reply as JSON. A value that is nested too deeply is replaced by a marker. */
export function jsonOfReply(value: unknown): string | undefined {
  try {
    return JSON.stringify(value);
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    return JSON.stringify(upTo(maxReplyLevels, value));
  }
}

/** A copy in which values below the given level are replaced by a marker. Does not use recursion. */
export function upTo(levels: number, value: unknown): unknown {
  const whole: { root?: unknown } = {};
  let level: { from: unknown; into: Record<string, unknown>; name: string }[] = [
    { from: value, into: whole, name: 'root' },
  ];
  for (let depth = 0; level.length > 0; depth++) {
    const next: typeof level = [];
    for (const { from, into, name } of level) {
      const plain = from instanceof Date ? from.toJSON() : from;
      const copy = !isComposite(plain) ? plain : depth >= levels ? tooDeep : Array.isArray(plain) ? [] : {};
      // Does not assign, because a member may be called __proto__.
      Object.defineProperty(into, name, {
        value: copy,
        enumerable: true,
        configurable: true,
        writable: true,
      });
      if (!isComposite(plain) || depth >= levels) continue;
      for (const [member, inner] of Object.entries(plain)) {
        next.push({ from: inner, into: copy as Record<string, unknown>, name: member });
      }
    }
    level = next;
  }
  return whole.root;
}
