import { helpAt, withHelp } from '@millrace/contract/help';
import { anchorOf } from '@millrace/contract/troubleshooting';

/**
 * A single-line message, with a reference to more information.
 * @param help the documentation address from the server that sent the message
 */
export function withExplanation(message: string, help?: string): string {
  const anchor = help === undefined ? anchorOf(message) : undefined;
  return withHelp(message, anchor === undefined ? help : helpAt(anchor));
}
