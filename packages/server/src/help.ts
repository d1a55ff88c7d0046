import { helpAt } from '@millrace/contract/help';
import { anchorOfReply } from '@millrace/contract/troubleshooting';

/** Where the documentation explains a failed response: the value of the header `x-millrace-help`. */
export const helpFor = (status: number, message: string): string => helpAt(anchorOfReply(status, message));
