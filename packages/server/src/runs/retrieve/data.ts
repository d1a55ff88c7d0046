import { sealedType } from '@millrace/contract';
import { isComposite } from '../../json/levels.ts';
import { responseJson } from '../../json/response.ts';

/**
 * A payload or an output in its wire format: the plain JSON value, unpacked. Text that does not match its type is returned verbatim: it was
 * stored unchanged, and its run has reported the error.
 */
export function readData(text: string | null, type: string): unknown {
  if (text === null) return undefined;
  if (type === 'application/json' || type === sealedType) return responseJson(text, text);
  if (type !== 'application/super+json') return text;
  // Only the plain part, because values that the other part would revive (dates, maps) cannot be written as JSON anyway.
  return responseJson(text, text, (value) => (isComposite(value) ? value['json'] : text));
}
