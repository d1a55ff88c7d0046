/** Validates the parts of a request by the operation's schemas; throws a 400 Problem. */
import type { OperationDeclaration } from '@millrace/contract';
import type { ForeignJsonLimits } from '@millrace/contract/foreign-json';
import type { z } from 'zod';
import { isUnstorableText } from '../db/errors.ts';
import { parseRequest, parseRequestParts } from '../json/foreign.ts';
import type { InParts } from '../json/parts.ts';
import { unstorableIssue, unstorableIssueParts, unstorableText } from '../json/unstorable.ts';
import { badRequest, Problem } from '../problem.ts';
import { detailsOf, validationSentence } from './issues.ts';
import { wrongItem } from './wrong-item.ts';

export function readPart(schema: z.ZodType, value: unknown, label: 'Params Error' | 'Query Error'): unknown {
  const result = schema.safeParse(value);
  if (!result.success) throw badRequest(label, detailsOf(result.error.issues));
  return result.data;
}

export interface BodyRules extends Pick<OperationDeclaration, 'bodyOptional' | 'checksTexts'> {
  readonly limits: Pick<ForeignJsonLimits, 'maxMembers' | 'maxEscapes'>;
}

/** `text` is undefined or empty for a request without a body. */
export function readBody(
  schema: z.ZodType,
  text: string | undefined,
  { bodyOptional = false, checksTexts = false, limits }: BodyRules,
): unknown {
  if (text === undefined || text === '') {
    if (bodyOptional) return undefined;
    throw badRequest('Request body is empty');
  }
  const value = parseRequest(text, limits);
  const body = fitting(schema, value);
  const unstorable = checksTexts ? undefined : unstorableIssue(schema, value, text);
  if (unstorable) throw refused([unstorable]);
  return body;
}

/** Like `readBody`, for a large body, in parts. */
export function* readBodyParts(
  schema: z.ZodType,
  bytes: Buffer,
  { checksTexts = false, limits }: BodyRules,
): InParts<unknown> {
  const value = yield* parseRequestParts(bytes, limits);
  yield;
  const wrong = wrongItem(schema, value);
  if (wrong) throw refused(wrong);
  yield;
  const body = fitting(schema, value);
  yield;
  const unstorable = checksTexts ? undefined : yield* unstorableIssueParts(schema, value, bytes);
  if (unstorable) throw refused([unstorable]);
  return body;
}

/** The Problem for a text of the request that PostgreSQL rejected, with the path of the text. */
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
  badRequest(validationSentence(issues), detailsOf(issues));

/** Repeats `details` as `issues`, the name that older clients read. */
export function listIssues(error: unknown): never {
  if (!(error instanceof Problem) || error.extra['details'] === undefined) throw error;
  throw new Problem(error.code, error.message, { ...error.extra, issues: error.extra['details'] });
}
