/** Validates the parts of a request by the operation's schemas; throws a 400 Problem. */
import type { ForeignJsonLimits } from '@millrace/contract/foreign-json';
import type { z } from 'zod';
import { parseRequest } from '../json/foreign.ts';
import { largeBody } from '../json/turns.ts';
import { badRequest, Problem } from '../problem.ts';
import { detailsOf, validationSentence } from './issues.ts';
import { wrongItem } from './wrong-item.ts';

export function readPart(schema: z.ZodType, value: unknown, label: 'Params Error' | 'Query Error'): unknown {
  const result = schema.safeParse(value);
  if (!result.success) throw badRequest(label, detailsOf(result.error.issues));
  return result.data;
}

/** `text` is undefined or empty for a request without a body. */
export function readBody(
  schema: z.ZodType,
  text: string | undefined,
  optional: boolean,
  limits: Pick<ForeignJsonLimits, 'maxMembers' | 'maxEscapes'>,
): unknown {
  if (text === undefined || text === '') {
    if (optional) return undefined;
    throw badRequest('Request body is empty');
  }
  const value = parseRequest(text, limits);
  const wrong = text.length > largeBody ? wrongItem(schema, value) : undefined;
  if (wrong) throw invalid(wrong);
  return fitting(schema, value);
}

/** Validates a parsed body, JSON or form. */
export function fitting(schema: z.ZodType, value: unknown): unknown {
  const result = schema.safeParse(value);
  if (!result.success) throw invalid(result.error.issues);
  return result.data;
}

const invalid = (issues: readonly z.core.$ZodIssue[]): Problem =>
  badRequest(validationSentence(issues), detailsOf(issues));

/** Repeats `details` as `issues`, the name that older clients read. */
export function listIssues(error: unknown): never {
  if (!(error instanceof Problem) || error.extra['details'] === undefined) throw error;
  throw new Problem(error.status, error.message, { ...error.extra, issues: error.extra['details'] });
}
