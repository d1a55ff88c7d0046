/**
 * Codes by which a machine asks to be let in. A code says itself until when it is good, under a MAC: none is stored before a user
 * approves it, so asking, which anybody may, leaves nothing behind.
 *
 * Layout: expiry in seconds since 1970 (4 bytes) · random (16) · MAC (16).
 */
import { createHmac, hkdfSync, randomBytes, timingSafeEqual } from 'node:crypto';
import type { MasterKey } from './seal.ts';

const marker = 'svc_code_';
const form = /^svc_code_[\w-]{48}$/;
const macAt = 20;
const minutes = 10;

// Never the master key itself: whoever asks may have as many MACs as they like.
function macOf({ key }: MasterKey, told: Buffer): Buffer {
  const own = hkdfSync('sha256', key, '', 'millrace authorization codes', 32);
  return createHmac('sha256', Buffer.from(own)).update(told).digest().subarray(0, 16);
}

/** A code that is good for ten minutes. */
export function newAuthorizationCode(masterKey: MasterKey, now: number): { code: string; expiresAt: Date } {
  const seconds = Math.floor(now / 1_000) + minutes * 60;
  const told = Buffer.alloc(macAt);
  told.writeUInt32BE(seconds);
  randomBytes(macAt - 4).copy(told, 4);
  const code = marker + Buffer.concat([told, macOf(masterKey, told)]).toString('base64url');
  return { code, expiresAt: new Date(seconds * 1_000) };
}

/** Until when a code is good; undefined if it is not, or never was one. A code of the key before is good while keys are changed. */
export function readAuthorizationCode(masterKey: MasterKey, code: string, now: number): Date | undefined {
  if (!form.test(code)) return undefined;
  const bytes = Buffer.from(code.slice(marker.length), 'base64url');
  const [told, mac] = [bytes.subarray(0, macAt), bytes.subarray(macAt)];
  const keys = masterKey.previous ? [masterKey, masterKey.previous] : [masterKey];
  if (!keys.some((key) => timingSafeEqual(macOf(key, told), mac))) return undefined;
  const expiresAt = new Date(told.readUInt32BE() * 1_000);
  return expiresAt.getTime() > now ? expiresAt : undefined;
}
