import { sealedType } from '@millrace/contract';
import { isComposite } from '../../json/levels.ts';
import { shownJson } from '../../json/shown.ts';

/**
 * A payload or an output as the wire shows it: the plain JSON value, unpacked. Text that its type does not fit is shown as it is:
 * it was stored as it came, and its run has said so.
 */
export function readData(text: string | null, type: string): unknown {
  if (text === null) return undefined;
  if (type === 'application/json' || type === sealedType) return shownJson(text, text);
  if (type !== 'application/super+json') return text;
  // Only the plain half: what the other half would revive (dates, maps) cannot be written as JSON anyway.
  return shownJson(text, text, (value) => (isComposite(value) ? value['json'] : text));
}
