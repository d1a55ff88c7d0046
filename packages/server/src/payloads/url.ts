import { createHmac, hkdfSync, timingSafeEqual, type KeyObject } from 'node:crypto';
import type { MasterKey } from '../auth/seal.ts';
import { Problem } from '../problem.ts';

/** The permission in a signed URL. */
export interface PacketGrant {
  readonly act: 'put' | 'get';
  readonly env: number;
  readonly name: string;
  /** The uploader, if it is a restricted caller. */
  readonly by?: string | undefined;
  /** Milliseconds since 1970. */
  readonly until: number;
}

/** Signed URLs of packets. They need no credential, so each allows one action on one packet for a short time. */
export interface PacketAddresses {
  /** The path of a URL that is valid for five minutes, but not beyond `callerUntil`, when the caller's credential ends. */
  sign(grant: Omit<PacketGrant, 'until'>, now: number, callerUntil: number): string;
  /** Verifies the last segment of such a path. Throws a 403 Problem if it was changed or has expired. */
  verify(token: string, act: PacketGrant['act'], now: number): PacketGrant;
}

export const packetPath = '/packets/v1/';
const validMs = 5 * 60_000;
const maxTokenLength = 4_096;

export function packetAddresses(masterKey: MasterKey): PacketAddresses {
  const key = keyOf(masterKey.key);
  // During a rotation, another process may sign with the other key.
  const known = masterKey.previous ? [key, keyOf(masterKey.previous.key)] : [key];
  return {
    sign(grant, now, callerUntil) {
      const until = Math.min(now + validMs, callerUntil);
      const text = Buffer.from(JSON.stringify({ ...grant, until })).toString('base64url');
      return `${packetPath}${text}.${macOf(key, text).toString('base64url')}`;
    },
    verify(token, act, now) {
      const [text = '', signature = ''] = token.length > maxTokenLength ? [] : token.split('.');
      const claimed = Buffer.from(signature, 'base64url');
      const isOurs = known.some((each) => {
        const mac = macOf(each, text);
        return claimed.length === mac.length && timingSafeEqual(claimed, mac);
      });
      if (!isOurs) {
        throw refused('This address is not signed by this server. Request a new one.');
      }
      const grant = JSON.parse(Buffer.from(text, 'base64url').toString('utf8')) as PacketGrant;
      if (grant.act !== act) {
        throw refused(`This address is for ${grant.act.toUpperCase()} requests. Request another one.`);
      }
      if (now > grant.until) throw refused('This address is no longer valid. Request a new one.');
      return grant;
    },
  };
}

/** Not retryable. */
const refused = (message: string) => new Problem('invalid_signature', message, {}, false);

const macOf = (key: Buffer, text: string): Buffer => createHmac('sha256', key).update(text).digest();

/** Derives a separate key, so that signatures and sealed values cannot be confused. */
const keyOf = (master: KeyObject): Buffer =>
  Buffer.from(hkdfSync('sha256', master.export(), '', 'millrace packet addresses', 32));
