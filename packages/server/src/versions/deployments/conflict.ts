import type { ErrorCode } from '@millrace/contract';
import { Problem } from '../../problem.ts';

/** The state of a version, or of something that belongs to it, does not allow the request. */
export const conflict = (code: ErrorCode, message: string, extra: Record<string, unknown> = {}): Problem =>
  new Problem(code, message, extra);
