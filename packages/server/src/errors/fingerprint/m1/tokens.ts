import { includes, replacing } from '../rule.ts';
import type { Rule } from '../rule.ts';
import { forms as formsNow, protectedNumbers as protectedNumbersNow } from '../tokens.ts';

export { identifiers } from '../tokens.ts';

const url = replacing(
  'URL',
  /\b[a-z][a-z0-9+.-]{1,20}:\/\/[^\s"'`<>()[\]{},;]{0,600}(?:[,;][^\s"'`<>()[\]{},;]{1,200}){0,8}/gi,
  '<url>',
  includes('://'),
);

/** Addresses lost all of their path. */
export const forms: Rule[] = formsNow
  .filter(({ name }) => name !== 'request path' && name !== 'path of a service')
  .map((rule) => (rule.name === 'URL' ? url : rule));
export const protectedNumbers: Rule[] = protectedNumbersNow.filter(({ name }) => name !== 'declared length');
