/** Small shapes that several operations share. */
import { z } from 'zod';
import { lastMoment, parseInstant } from '../duration.ts';
import { parsePeriodMs } from '../period.ts';

/** ISO-8601 with milliseconds and `Z`. */
export const date = z.iso.datetime();

/** What somebody calls a thing, kept as it is but for the blanks around it. */
export const nameOf = (most: number) =>
  z
    .string()
    .trim()
    .min(1)
    .max(most)
    .refine((text) => text.isWellFormed(), 'must not contain half a character (half of a surrogate pair)');

/** What tells things apart: one that could not be stored as it is would be another one. */
export const keyOf = (most: number, tooLong = `at most ${most} characters`) =>
  z
    .string()
    .max(most, tooLong)
    .refine((text) => !text.includes('\0'), 'must not contain a NUL character')
    .refine((text) => text.isWellFormed(), 'must not contain half a character (half of a surrogate pair)');

/** A tag of a run or of a token. */
export const tag = keyOf(128, 'a tag has at most 128 characters');

/** An empty one is a mistake of the sender's: all that bring it would be one. */
export const idempotencyKey = keyOf(2_048).min(1, 'must not be empty; leave it out for none');

export const errorBody = z.object({
  error: z.string(),
  details: z
    .array(z.looseObject({ code: z.string(), message: z.string(), path: z.array(z.string()).optional() }))
    .optional(),
});

/** `next` and `previous` are strings or absent, never null. */
export const cursors = z.object({ next: z.string().optional(), previous: z.string().optional() });

/** What a trigger does while a run with its singleton key is live. */
export const singletonConflict = z.enum(['skip', 'replace', 'queue']);
export type SingletonConflict = z.infer<typeof singletonConflict>;

/** Options of a trigger that its run shows as they came. */
export const shownOptions = {
  /** Stored, shown and filtered by. It decides nothing about where the run executes. */
  region: z.string().max(128).optional(),
  /** A short text for people, shown with the run. At most 256 characters. */
  description: z
    .string()
    .max(256)
    .refine((text) => !text.includes('\0'), 'must not contain a NUL character')
    .optional(),
};
/** A W3C trace context. */
export const traceparent = z
  .string()
  .regex(
    /^00-(?!0{32})[0-9a-f]{32}-(?!0{16})[0-9a-f]{16}-[0-9a-f]{2}$/,
    'not a W3C trace context, such as 00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01',
  );

export type ShownOptions = z.input<z.ZodObject<typeof shownOptions>>;

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

/** A date in a query: ISO 8601, or milliseconds since 1970 as digits. One before 1970 or beyond 9999 is that year: nothing lies there. */
export const instant = z.string().transform((text, context) => {
  const at = /^-?\d{1,15}$/.test(text) ? Number(text) : parseInstant(text)?.getTime();
  if (at !== undefined) return new Date(Math.min(lastMoment, Math.max(0, at)));
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

/**
 * What code of a run that is executed again finds by what it made before: instead of an idempotency key, apart from everybody's, kept as
 * long as the run. What it leads to is found however that ended.
 */
export const waitKey = z.string().min(1).max(512).optional();

/** Proof that the sender is the attempt that has the run: once another one has it, or none, nothing is done and the answer is 409. */
export const fence = z.number().int().min(1).optional();
