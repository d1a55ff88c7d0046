/** Small shapes that several operations share. */
import { z } from 'zod';
import { lastMoment, parseInstant } from '../duration.ts';
import { isOwner, ownerRule } from '../owner.ts';
import { parsePeriodMs } from '../period.ts';

/** ISO-8601 with milliseconds and `Z`. */
export const date = z.iso.datetime();

/** A display name, stored unchanged except for surrounding whitespace. */
export const nameOf = (max: number) =>
  z
    .string()
    .trim()
    .min(1)
    .max(max)
    .refine((text) => text.isWellFormed(), 'must not contain an unpaired surrogate');

/** An identifying key. It must be storable exactly, because an altered key would be a different one. */
export const keyOf = (max: number, tooLong = `at most ${max} characters`) =>
  z
    .string()
    .max(max, tooLong)
    .refine((text) => !text.includes('\0'), 'must not contain a NUL character')
    .refine((text) => text.isWellFormed(), 'must not contain an unpaired surrogate');

/** The name of an owner, such as `@payments` or `ana@example.com`. */
export const owner = z.string().refine(isOwner, ownerRule);

/** An environment, or a branch of one, in the path of an operation. */
export const environmentInPath = z.object({
  projectRef: z.string().min(1).max(128),
  /** `dev`, `stg`, `prod` or `preview`, in any spelling; a branch by header. */
  env: z.string().min(1).max(300),
});

/** A tag of a run or of a token. */
export const tag = keyOf(128, 'a tag has at most 128 characters');

/** An empty key is a mistake by the sender, because all requests with it would be treated as one. */
export const idempotencyKey = keyOf(2_048).min(1, 'must not be empty; leave it out for none');

export const errorBody = z.object({
  error: z.string(),
  details: z
    .array(z.looseObject({ code: z.string(), message: z.string(), path: z.array(z.string()).optional() }))
    .optional(),
});

/** `next` and `previous` are strings or absent, never null. */
export const cursors = z.object({ next: z.string().optional(), previous: z.string().optional() });

/** The effect of a trigger while a run with its singleton key is live. */
export const singletonConflict = z.enum(['skip', 'replace', 'queue']);
export type SingletonConflict = z.infer<typeof singletonConflict>;

/** Options of a trigger that its run returns unchanged. */
export const optionsResponse = {
  /** Stored, shown and filterable. It does not affect where the run executes. */
  region: z.string().max(128).optional(),
  /** A short human-readable text that is shown with the run. At most 256 characters. */
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

export type OptionsResponse = z.input<z.ZodObject<typeof optionsResponse>>;

/** A comma-separated list in one parameter; whitespace is dropped. */
export const commaList = z.string().transform((text) =>
  text
    .split(',')
    .map((part) => part.trim())
    .filter((part) => part !== ''),
);

/** `page[size]` with its bounds. */
export const pageSize = (fallback: number, max = 100) =>
  z.coerce.number().int().min(1).max(max).default(fallback);

const instantMessage = 'not a date; send an ISO 8601 date or milliseconds since 1970';

/**
 * A date in a query: ISO 8601, or milliseconds since 1970 as digits. Dates before 1970 or after 9999 are clamped, because there is no data
 * beyond.
 */
export const instant = z.string().transform((text, context) => {
  const at = /^-?\d{1,15}$/.test(text) ? Number(text) : parseInstant(text)?.getTime();
  if (at !== undefined) return new Date(Math.min(lastMoment, Math.max(0, at)));
  context.addIssue({ code: 'custom', message: instantMessage });
  return z.NEVER;
});

/** A comma-separated list of known words; the error names an unknown one. */
export const oneOfList = <const W extends readonly string[]>(words: W) =>
  commaList.transform((parts, context) => {
    const isKnown = (part: string): part is W[number] => words.includes(part);
    const unknown = parts.find((part) => !isKnown(part));
    if (unknown === undefined) return parts.filter(isKnown);
    context.addIssue({ code: 'custom', message: `unknown value ${unknown}; use ${words.join(', ')}` });
    return z.NEVER;
  });

/** A range up to now, such as `7d`, in milliseconds. */
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
 * The key by which re-executed code of a run finds the objects that it created before. Used instead of an idempotency key: in a separate
 * namespace, and stored as long as the run. The object is found regardless of how it ended.
 */
export const waitKey = z.string().min(1).max(512).optional();

/**
 * Proof that the sender is the attempt that owns the run. If another attempt or none owns it, nothing is changed and the response is 409.
 */
export const fence = z.number().int().min(1).optional();
