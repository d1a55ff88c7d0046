import { includes, protect, replacing } from '../rule.ts';
import type { Rule } from '../rule.ts';
import { forms as formsNow, protectedNumbers as protectedNumbersNow } from '../tokens.ts';

export { identifiers } from '../tokens.ts';

const url = replacing(
  'URL',
  /\b[a-z][a-z0-9+.-]{1,20}:\/\/[^\s"'`<>()[\]{},;]{0,600}(?:[,;][^\s"'`<>()[\]{},;]{1,200}){0,8}/gi,
  '<url>',
  includes('://'),
);

const code = replacing(
  'code',
  /\b(?:E\d{3,6}|P[1-6]\d{3}|ORA-\d{3,6}|TS\d{3,5}|SQLSTATE ?\[?[0-9A-Z]{5}|[A-Z]{2,12}_[A-Z][A-Z0-9_]{1,60}|ER\d{3,5}|PGRST\d{3}|AADSTS\d{4,8}|[A-Z]{1,4}-?\d{4}:)/g,
  protect,
  (text) => /[A-Z]\d|[A-Z]_|[A-Z]-\d|SQLSTATE/.test(text),
);

/** Addresses lost all of their path. */
export const forms: Rule[] = formsNow
  .filter(({ name }) => name !== 'request path' && name !== 'path of a service')
  .map((rule) => (rule.name === 'URL' ? url : rule));
export const protectedNumbers: Rule[] = protectedNumbersNow
  .filter(({ name }) => name !== 'declared length')
  .map((rule) => (rule.name === 'code' ? code : rule));
