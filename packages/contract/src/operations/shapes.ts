/** Small shapes that several operations share. */
import { z } from 'zod';
import { parseInstant } from '../duration.ts';
import { parsePeriodMs } from '../period.ts';

/** ISO-8601 with milliseconds and `Z`. */
export const date = z.iso.datetime();

export const errorBody = z.object({
  error: z.string(),
  details: z
    .array(z.looseObject({ code: z.string(), message: z.string(), path: z.array(z.string()).optional() }))
    .optional(),
});

/** `next` and `previous` are strings or absent, never null. */
export const cursors = z.object({ next: z.string().optional(), previous: z.string().optional() });

/** A comma-separated list in one parameter; blanks are dropped. */
export const commaList = z.string().transform((text) =>
  text
    .split(',')
    .map((part) => part.trim())
    .filter((part) => part !== ''),
);

/** `page[size]` with its bounds. */
export const pageSize = (fallback: number, most = 100) =>
  z.coerce.number().int().min(1).max(most).default(fallback);

const instantMessage = 'not a date; send an ISO 8601 date or milliseconds since 1970';

/** A date in a query: ISO 8601, or milliseconds since 1970 as digits. */
export const instant = z.string().transform((text, context) => {
  const at = /^-?\d{1,15}$/.test(text) ? new Date(Number(text)) : parseInstant(text);
  if (at !== undefined) return at;
  context.addIssue({ code: 'custom', message: instantMessage });
  return z.NEVER;
});

/** A comma-separated list of known words; an unknown one is named. */
export const oneOfList = <const W extends readonly string[]>(words: W) =>
  commaList.transform((parts, context) => {
    const isKnown = (part: string): part is W[number] => words.includes(part);
    const unknown = parts.find((part) => !isKnown(part));
    if (unknown === undefined) return parts.filter(isKnown);
    context.addIssue({ code: 'custom', message: `unknown value ${unknown}; use ${words.join(', ')}` });
    return z.NEVER;
  });

/** A range back from now, such as `7d`, as milliseconds. */
export const period = z.string().transform((text, context) => {
  const ms = parsePeriodMs(text);
  if (ms !== undefined) return ms;
  context.addIssue({
    code: 'custom',
    message: 'not a period; send a number and a unit (s, m, h, d, w), such as 7d',
  });
  return z.NEVER;
});
