import { helpAt, withHelp } from '@millrace/contract/help';
import type { Anchor } from '@millrace/contract/troubleshooting';

/** A message with the address of the section of docs/troubleshooting.md that explains it. */
export const explained = (message: string, anchor: Anchor): string => withHelp(message, helpAt(anchor));
