import { bounds, propertyOf, storable, textOf } from './bounds.ts';

/** An error as it reaches the server. Any field may be missing or of another type. */
export interface ThrownError {
  taskIdentifier?: string;
  name?: unknown;
  message?: unknown;
  stack?: unknown;
  code?: unknown;
  causes?: ThrownError[];
}

export function codeOf(code: unknown): string {
  return typeof code === 'string' || typeof code === 'number' ? storable(String(code).slice(0, 80)) : '';
}

export interface StructuredCause {
  name: unknown;
  message: string;
  stack?: string;
  code: string;
}

/** Causes and their causes in one list, each before its own causes, as in the text of a stack. */
export function structuredCauses(error: unknown, found: StructuredCause[] = []): StructuredCause[] {
  const causes = propertyOf(error, 'causes');
  if (!Array.isArray(causes)) return found;
  for (const cause of causes.slice(0, bounds.causes) as unknown[]) {
    if (found.length >= bounds.causes) break;
    found.push({
      name: propertyOf(cause, 'name'),
      message: textOf(propertyOf(cause, 'message'), bounds.message),
      code: codeOf(propertyOf(cause, 'code')),
      stack: textOf(propertyOf(cause, 'stack'), bounds.line),
    });
    structuredCauses(cause, found);
  }
  return found;
}
