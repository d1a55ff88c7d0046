import { helpAt, withHelp } from '@millrace/contract/help';
import { anchorOf } from '@millrace/contract/troubleshooting';

/**
 * A message of one line, and where to read more.
 * @param help what the server that sent the message says of that
 */
export function withExplanation(message: string, help?: string): string {
  const anchor = help === undefined ? anchorOf(message) : undefined;
  return withHelp(message, anchor === undefined ? help : helpAt(anchor));
}
