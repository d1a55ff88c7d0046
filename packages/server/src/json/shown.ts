/** Stored JSON in replies. What cannot be shown has a mark in its place, so that it never takes a page or a stream with it. */
import { maxJsonLevels } from '@millrace/contract';
import { isComposite, isTooDeep } from './levels.ts';

const omitted = (reason: string) => ({ $omitted: reason });
const tooDeep = omitted(`nested more than ${maxJsonLevels} levels deep`);
const noJson = omitted('not JSON');

/** What a stored JSON text holds, or the mark. */
export function shownJson(text: string): unknown {
  if (isTooDeep(text)) return tooDeep;
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return noJson;
  }
}

/** The same for what is shown as an object. */
export const shownObject = (text: string): Record<string, unknown> => {
  const value = shownJson(text);
  return isComposite(value) && !Array.isArray(value) ? value : noJson;
};

/** A stored JSON text for clients that read it themselves. */
export const shownText = (text: string): string => (isTooDeep(text) ? JSON.stringify(tooDeep) : text);

/** Room for what is around stored JSON in a reply. */
const maxReplyLevels = maxJsonLevels + 32;

/** A reply as JSON, whatever is in it: what is nested too deeply has the mark in its place. */
export function jsonOfReply(value: unknown): string | undefined {
  try {
    return JSON.stringify(value);
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    return JSON.stringify(upTo(maxReplyLevels, value));
  }
}

/** A copy with the mark in place of what is nested deeper. Without recursion. */
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
      // As its own member even if it is called __proto__.
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
