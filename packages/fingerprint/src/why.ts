import { normaliseMessage } from './message/message.ts';
import type { Parts } from './parts.ts';

/** One sentence for each part of a fingerprint. `raw` is the message as it was thrown. */
export function reasons(
  { type, family, compared, place, causes }: Parts,
  raw: string,
  task: string,
): string[] {
  const applied: string[] = [];
  normaliseMessage(raw, applied);
  const rules = [...new Set(applied)];
  return [
    task === '' ? 'Task: none was given.' : `Task: ${task}.`,
    family === undefined ? `Class: ${type}.` : `Class: any of the family "${family}", in place of ${type}.`,
    `Message: compared as "${compared}"${rules.length === 0 ? '' : `, after the rules ${rules.join(', ')}`}.`,
    place === '' ? 'Place: none; the task and the message decide.' : `Place: ${place}.`,
    causes.length === 0 ? 'Causes: none that add anything.' : `Causes: ${causes.join('; ')}.`,
  ];
}
