import type { Cursor } from './page.ts';

/** A filter that accepts one word or any of several. */
export const joined = (words: string | readonly string[] | undefined): string | undefined =>
  typeof words === 'string' ? words : words?.join(',');

export const milliseconds = (at: Date | number | undefined): number | undefined =>
  at instanceof Date ? at.getTime() : at;

/** A page of a list with cursors. The API accepts only one of the two; `before` takes precedence. */
export const pageQuery = ({ after, before }: Cursor) =>
  before === undefined ? { 'page[after]': after } : { 'page[before]': before };
