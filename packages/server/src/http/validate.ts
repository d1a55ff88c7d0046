/** Validates the parts of a request by the operation's schemas; throws a 400 Problem. */
import type { z } from 'zod';
import { parseRequest } from '../json/foreign.ts';
import { badRequest, Problem } from '../problem.ts';
import { detailOf, validationSentence } from './issues.ts';

export function readPart(schema: z.ZodType, value: unknown, label: 'Params Error' | 'Query Error'): unknown {
  const result = schema.safeParse(value);
  if (!result.success) throw badRequest(label, result.error.issues.map(detailOf));
  return result.data;
}

/** `text` is undefined or empty for a request without a body. */
export function readBody(schema: z.ZodType, text: string | undefined, optional: boolean): unknown {
  if (text === undefined || text === '') {
    if (optional) return undefined;
    throw badRequest('Request body is empty');
  }
  return fitting(schema, parseRequest(text));
}

/** Validates a parsed body, JSON or form. */
export function fitting(schema: z.ZodType, value: unknown): unknown {
  const result = schema.safeParse(value);
  if (!result.success)
    throw badRequest(validationSentence(result.error.issues), result.error.issues.map(detailOf));
  return result.data;
}

/** Repeats `details` as `issues`, the name that older clients read. */
export function listIssues(error: unknown): never {
  if (!(error instanceof Problem) || error.extra['details'] === undefined) throw error;
  throw new Problem(error.status, error.message, { ...error.extra, issues: error.extra['details'] });
}
