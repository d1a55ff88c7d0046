import type { FoundLine } from '@millrace/contract';
import type { LogLevel } from '@millrace/contract/runner';
import type { QueryValue } from '../client/path.ts';

/** A line with the run that wrote it. */
export type FoundLog = Omit<FoundLine, 'at'> & { readonly at: Date };

/** Filters for log lines. All filters must match. */
export interface LogFilter {
  /** Only lines of these tasks. */
  task?: string | readonly string[];
  level?: LogLevel | readonly LogLevel[];
  /** A text in the message or the properties, case-insensitive. At most 256 characters. */
  text?: string;
  /** A property and its value, such as `customer.id=42`. */
  property?: string;
}

const listed = (values: string | readonly string[] | undefined): string | undefined =>
  typeof values === 'string' ? values : values?.join(',');

export const filterQuery = ({ task, level, text, property }: LogFilter): Record<string, QueryValue> => ({
  'filter[task]': listed(task),
  'filter[level]': listed(level),
  'filter[text]': text,
  'filter[property]': property,
});

export const dated = (line: FoundLine): FoundLog => ({ ...line, at: new Date(line.at) });
