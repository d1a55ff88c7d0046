/**
 * Millrace's own credentials, found by their shape: secret keys, personal access tokens, credentials of attempts, invitations and codes
 * of logins. Nothing need be known of their values. Public tokens are left alone: tasks hand them out on purpose. Pure.
 */
import { environmentKinds, redacted } from '@millrace/contract';

/** A text without one of these holds no credential: nearly every text is done with that. */
export const mayHoldKey = (text: string): boolean => text.includes('svc_') || text.includes('tr_');

/** What follows a marker. A text that was cut for its length may end within a key, before `…`. */
const ending = '(?:[0-9A-Za-z]{20,}|[0-9A-Za-z]+(?=…))';
const shape = new RegExp(
  [
    `(?:svc|tr)_(?:${environmentKinds.join('|')})_(?:sk_)?${ending}`,
    `(?:svc|tr)_(?:pat|inv)_${ending}`,
    // A JWT behind a marker; the parts of a cut one may be missing.
    String.raw`svc_run_eyJ[\w-]*(?:\.[\w-]*){0,2}`,
    // A code, or whatever there will be: no name of a thing is as long.
    String.raw`svc_[a-z]{2,12}_[\w-]{40,}`,
  ].join('|'),
  'g',
);

export const redactKeys = (text: string): string => (mayHoldKey(text) ? text.replace(shape, redacted) : text);

/** The same for JSON, which stays JSON: these shapes need no escape and hold none, and neither does what takes their place. */
export const redactKeysInJson = (json: string): string =>
  mayHoldKey(json)
    ? json.replace(shape, (found, at: number) => (isEscaped(json, at) ? found : redacted))
    : json;

/** Behind an odd number of backslashes, the t of `tr_` is that of a tab. */
function isEscaped(json: string, at: number): boolean {
  let from = at;
  while (json[from - 1] === '\\') from -= 1;
  return (at - from) % 2 === 1;
}
