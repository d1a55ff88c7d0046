/** Validates the parts of a request by the operation's schemas; throws a 400 Problem. */
import type { OperationDeclaration } from '@millrace/contract';
import type { z } from 'zod';
import { isUnstorableText } from '../db/errors.ts';
import { parseShallow } from '../json/levels.ts';
import { unstorableIssue, unstorableText } from '../json/unstorable.ts';
import { badRequest, Problem } from '../problem.ts';
import { detailOf, validationSentence } from './issues.ts';

export function readPart(schema: z.ZodType, value: unknown, label: 'Params Error' | 'Query Error'): unknown {
  const result = schema.safeParse(value);
  if (!result.success) throw badRequest(label, result.error.issues.map(detailOf));
  return result.data;
}

/** `text` is undefined or empty for a request without a body. */
export function readBody(
  schema: z.ZodType,
  text: string | undefined,
  { bodyOptional = false, checksTexts = false }: Pick<OperationDeclaration, 'bodyOptional' | 'checksTexts'>,
): unknown {
  if (text === undefined || text === '') {
    if (bodyOptional) return undefined;
    throw badRequest('Request body is empty');
  }
  const value = parseJson(text);
  const body = fitting(schema, value);
  const unstorable = checksTexts ? undefined : unstorableIssue(schema, value, text);
  if (unstorable) throw refused([unstorable]);
  return body;
}

/** The Problem for an error of PostgreSQL that refused a text of the request, with the path of the text. */
export function refusedText(error: unknown, values: Readonly<Record<string, unknown>>): Problem | undefined {
  if (!isUnstorableText(error)) return undefined;
  for (const part of Object.values(values)) {
    const issue = unstorableText(part);
    if (issue) return refused([issue]);
  }
  return undefined;
}

/** Validates a parsed body, JSON or form. */
export function fitting(schema: z.ZodType, value: unknown): unknown {
  const result = schema.safeParse(value);
  if (!result.success) throw refused(result.error.issues);
  return result.data;
}

const refused = (issues: readonly z.core.$ZodIssue[]): Problem =>
  badRequest(validationSentence(issues), issues.map(detailOf));

/** Repeats `details` as `issues`, the name that older clients read. */
export function listIssues(error: unknown): never {
  if (!(error instanceof Problem) || error.extra['details'] === undefined) throw error;
  throw new Problem(error.status, error.message, { ...error.extra, issues: error.extra['details'] });
}

function parseJson(text: string): unknown {
  try {
    return parseShallow(text);
  } catch (error) {
    throw error instanceof Problem ? error : badRequest('Invalid JSON');
  }
}
