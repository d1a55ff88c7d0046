/** Limits how deep JSON is nested, without recursion: a client must not be able to exhaust the stack, here or where the JSON is shown. */
import { maxJsonLevels } from '@millrace/contract';
import { exceededLimit } from '@millrace/contract/foreign-json';
import { badRequest, type Problem } from '../problem.ts';

/** Whether a JSON text has more levels than may be stored. */
export function isTooDeep(text: string, max = maxJsonLevels): boolean {
  return exceededLimit(text, { maxDepth: max, maxMembers: Infinity }) === 'depth';
}

export const tooDeep = (field: string): Problem =>
  badRequest(`${field}: nested more than ${maxJsonLevels} levels deep; send something flatter.`);

/** The JSON text of a field, as it is; 400 if it is nested too deeply. */
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
