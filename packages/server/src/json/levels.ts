/**
 * Limits the nesting depth of JSON without using recursion, so that a client cannot exhaust the stack, here or where the JSON is displayed.
 */
import { maxJsonLevels } from '@millrace/contract';
import { exceededLimit, JsonScan } from '@millrace/contract/foreign-json';
import { badRequest, type Problem } from '../problem.ts';
import { partLength, type InParts } from './parts.ts';

/** Whether a JSON text has more levels than the maximum for stored JSON. */
export function isTooDeep(text: string, max = maxJsonLevels): boolean {
  return exceededLimit(text, { maxDepth: max, maxMembers: Infinity }) === 'depth';
}

/** Like `isTooDeep`, for a large text, in parts. */
export function* isTooDeepParts(text: string): InParts<boolean> {
  const scan = new JsonScan({ maxDepth: maxJsonLevels, maxMembers: Infinity });
  for (let from = 0; from < text.length && !scan.exceeded; from += partLength) {
    scan.add(Buffer.from(text.slice(from, from + partLength)));
    yield;
  }
  return scan.exceeded === 'depth';
}

export const tooDeep = (field: string): Problem =>
  badRequest(`${field}: nested more than ${maxJsonLevels} levels deep; send a flatter value.`);

/** The JSON text of a field, unchanged; 400 if it is nested too deeply. */
export function storableLevels(text: string, field: string): string {
  if (isTooDeep(text)) throw tooDeep(field);
  return text;
}

/** The JSON text of a value; 400 with the name of its field if it is nested too deeply. */
export function jsonOfField(value: unknown, field: string): string {
  let text: string | undefined;
  try {
    text = JSON.stringify(value);
  } catch (error) {
    if (error instanceof RangeError) throw tooDeep(field);
    throw error;
  }
  return storableLevels(text, field);
}

type Composite = Readonly<Record<string, unknown>>;

export const isComposite = (value: unknown): value is Composite =>
  typeof value === 'object' && value !== null;
