/**
 * Finds Millrace's own credentials by their form: secret keys, personal access tokens, credentials of attempts, invitations and login
 * codes. Public tokens are not redacted, because tasks hand them out on purpose. Pure.
 */
import { environmentKinds, redacted } from '@millrace/contract';
import { partLength, type InParts } from '../../json/parts.ts';

/** A quick check: a text without these markers contains no credential. */
export const mayHoldKey = (text: string): boolean => text.includes('svc_') || text.includes('tr_');

/** The part after a prefix. In a truncated text the key may end early, before `…`. */
const ending = '(?:[0-9A-Za-z]{20,}|[0-9A-Za-z]+(?=…))';
const shape = new RegExp(
  [
    `(?:svc|tr)_(?:${environmentKinds.join('|')})_(?:sk_)?${ending}`,
    `(?:svc|tr)_(?:pat|inv|browser|link)_${ending}`,
    // A JWT behind a prefix; parts of a truncated one may be missing.
    String.raw`svc_run_eyJ[\w-]*(?:\.[\w-]*){0,2}`,
    // Login codes and future credentials; no id is as long.
    String.raw`svc_[a-z]{2,12}_[\w-]{40,}`,
  ].join('|'),
  'g',
);

export const redactKeys = (text: string): string => (mayHoldKey(text) ? text.replace(shape, redacted) : text);

/** Redacts keys in JSON. The JSON stays valid, because neither the keys nor the replacement contain characters that need escaping. */
export const redactKeysInJson = (json: string): string =>
  mayHoldKey(json)
    ? json.replace(shape, (found, at: number) => (isEscaped(json, at) ? found : redacted))
    : json;

/** Recognizing a credential takes at most this many characters. */
const recognizedBy = 64;

/** Redacts keys in a long text, in parts. A key at the end of a part is searched for again with the following text. */
export function* redactKeysParts(text: string, isJson: boolean): InParts<string> {
  if (text.length <= partLength) return isJson ? redactKeysInJson(text) : redactKeys(text);
  const clean: string[] = [];
  for (let from = 0; from < text.length;) {
    const part = text.slice(from, from + partLength);
    const isLast = from + part.length === text.length;
    let end = isLast ? part.length : part.length - recognizedBy;
    let done = 0;
    if (mayHoldKey(part)) {
      for (const { 0: found, index } of part.matchAll(shape)) {
        if (index >= end) break;
        const foundEnd = index + found.length;
        // It may continue in the next part. No credential is as long as a part.
        if (!isLast && foundEnd === part.length && index > 0) {
          end = index;
          break;
        }
        clean.push(part.slice(done, index), isJson && isEscaped(text, from + index) ? found : redacted);
        done = foundEnd;
      }
    }
    end = Math.max(done, end);
    clean.push(part.slice(done, end));
    from += end;
    yield;
  }
  return clean.join('');
}

/** After an odd number of backslashes, the `t` of `tr_` is part of the escape `\t`. */
function isEscaped(json: string, at: number): boolean {
  let from = at;
  while (json[from - 1] === '\\') from -= 1;
  return (at - from) % 2 === 1;
}
