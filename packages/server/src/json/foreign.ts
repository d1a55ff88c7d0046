/** Reads JSON from clients and runners. All such JSON is parsed here; `test/architecture` searches for other calls of `JSON.parse`. */
import { maxJsonLevels, maxJsonMembers } from '@millrace/contract';
import { ForeignJsonError, parseForeignJson, type ForeignJsonLimits } from '@millrace/contract/foreign-json';
import { badRequest, type Problem } from '../problem.ts';
import { tooDeep } from './levels.ts';
import { parseParts } from './parse-parts.ts';
import type { InParts } from './parts.ts';

/** Nesting levels that a request may add around stored JSON. */
const maxEnvelopeLevels = 8;

/** Limits of a channel's record. Its size is already limited to 1 MiB, and only its reader interprets it. */
export const recordLimits: ForeignJsonLimits = { maxMembers: Infinity };

/** Limits of a request, and of a part of it. */
const requestLimits: ForeignJsonLimits = { maxDepth: maxJsonLevels + maxEnvelopeLevels };

/** Parses a request; throws a 400 Problem that names the field which exceeds a limit. */
export function parseRequest(
  text: string,
  limits: Pick<ForeignJsonLimits, 'maxMembers' | 'maxEscapes'> = {},
): unknown {
  return parsed(text, { ...limits, ...requestLimits }, '', 'Invalid JSON');
}

/** Like `parseRequest`, for a large request, in parts. */
export function* parseRequestParts(
  bytes: Buffer,
  limits: Pick<ForeignJsonLimits, 'maxMembers' | 'maxEscapes'> = {},
): InParts<unknown> {
  const all = { ...limits, ...requestLimits };
  try {
    return yield* parseParts(bytes, all);
  } catch (error) {
    throw error instanceof ForeignJsonError ? problemOf(error, '', 'Invalid JSON', all) : error;
  }
}

/** Parses a request that may not be JSON, in which case `otherwise` is returned. */
export function parseIfJson(text: string, otherwise: unknown, limits = requestLimits): unknown {
  try {
    return parseForeignJson(text, limits);
  } catch (error) {
    if (!(error instanceof ForeignJsonError)) throw error;
    if (error.reason === 'syntax') return otherwise;
    throw problemOf(error, '', 'Invalid JSON', limits);
  }
}

/** Parses a text that is a part of a request; throws a 400 Problem that names the part. */
export function parseText(text: string, name: string): unknown {
  return parsed(text, requestLimits, `${name}: `, `${name} is not valid JSON.`);
}

/** Parses a text that a client stored, or that may not be JSON. Undefined if it is not JSON or exceeds a limit. */
export function tryParse(text: string, limits: ForeignJsonLimits = {}): unknown {
  try {
    return parseForeignJson(text, limits);
  } catch (error) {
    if (error instanceof ForeignJsonError) return undefined;
    throw error;
  }
}

/** Like `tryParse`, for a large text, in parts. */
export function* tryParseParts(text: string, limits: ForeignJsonLimits = {}): InParts<unknown> {
  try {
    return yield* parseParts(Buffer.from(text), limits);
  } catch (error) {
    if (error instanceof ForeignJsonError) return undefined;
    throw error;
  }
}

function parsed(text: string, limits: ForeignJsonLimits, start: string, invalid: string): unknown {
  try {
    return parseForeignJson(text, limits);
  } catch (error) {
    throw error instanceof ForeignJsonError ? problemOf(error, start, invalid, limits) : error;
  }
}

function problemOf(
  { reason, path }: ForeignJsonError,
  start: string,
  invalid: string,
  { maxMembers = maxJsonMembers }: ForeignJsonLimits,
): Problem {
  const subject = start + (path || (start === '' ? 'The request' : 'the JSON'));
  switch (reason) {
    case 'depth':
      return tooDeep(subject);
    case 'members':
      return badRequest(`${subject}: more than ${maxMembers} members; send less, or upload it as a packet.`);
    default:
      return badRequest(invalid);
  }
}
