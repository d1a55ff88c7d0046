/** Work in parts. Other work may run at each `yield`. */
import { Turns } from './turns.ts';

export type InParts<R> = Generator<undefined, R>;

/** Bytes or characters of a long text that are read in one part, which takes one or two milliseconds. */
export const partLength = 256 * 1024;

export function atOnce<R>(parts: InParts<R>): R {
  for (;;) {
    const { done, value } = parts.next();
    if (done) return value;
  }
}

export async function inTurns<R>(parts: InParts<R>, turns = new Turns()): Promise<R> {
  for (;;) {
    const { done, value } = parts.next();
    if (done) return value;
    const next = turns.next();
    if (next) await next;
  }
}
