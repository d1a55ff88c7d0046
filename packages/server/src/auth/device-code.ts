/** Codes for the login of a device (RFC 8628): the device code, which the device stores, and the user code, which its user enters elsewhere. */
import { randomBytes, randomInt } from 'node:crypto';

/** No vowels, so that codes are not words, and no characters that look alike. */
const alphabet = 'BCDFGHJKLMNPQRSTVWXZ';
const length = 8;
const form = new RegExp(`^[${alphabet}]{${length}}$`);

/** `svc_code_` and 256 bits. */
export const newDeviceCode = (): string => `svc_code_${randomBytes(32).toString('base64url')}`;

/** Such as `WDJB-MJHT`: 34 bits, enough for ten minutes and few attempts. */
export function newUserCode(): string {
  let letters = '';
  for (let i = 0; i < length; i++) letters += alphabet.charAt(randomInt(alphabet.length));
  return `${letters.slice(0, 4)}-${letters.slice(4)}`;
}

/** Normalizes a user code as typed; undefined if it cannot be one. */
export function readUserCode(text: string): string | undefined {
  const letters = text.toUpperCase().replace(/[\s-]/g, '');
  if (!form.test(letters)) return undefined;
  return `${letters.slice(0, 4)}-${letters.slice(4)}`;
}
