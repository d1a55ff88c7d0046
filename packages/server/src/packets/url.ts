import { createHmac, hkdfSync, timingSafeEqual, type KeyObject } from 'node:crypto';
import type { MasterKey } from '../auth/seal.ts';
import { Problem } from '../problem.ts';

/** What the holder of an address may do, until when. */
export interface PacketGrant {
  readonly act: 'put' | 'get';
  readonly env: number;
  readonly name: string;
  /** Who may put it, of those who may not do everything. */
  readonly by?: string | undefined;
  /** Milliseconds since 1970. */
  readonly until: number;
}

/** Addresses of packets: whoever has one needs no credential, so each is for one act on one packet and soon over. */
export interface PacketAddresses {
  /** The path of an address that is good for five minutes, and no longer than `callerUntil`, when its caller's token ends. */
  sign(grant: Omit<PacketGrant, 'until'>, now: number, callerUntil: number): string;
  /** What the last part of such a path allows. Throws a 403 Problem for one that was changed or is over. */
  verify(token: string, act: PacketGrant['act'], now: number): PacketGrant;
}

export const packetPath = '/packets/v1/';
const validMs = 5 * 60_000;
const maxTokenLength = 4_096;

export function packetAddresses(masterKey: MasterKey): PacketAddresses {
  const key = keyOf(masterKey.key);
  // While keys are changed, what another process signed with the other one is good.
  const known = masterKey.previous ? [key, keyOf(masterKey.previous.key)] : [key];
  return {
    sign(grant, now, callerUntil) {
      const until = Math.min(now + validMs, callerUntil);
      const text = Buffer.from(JSON.stringify({ ...grant, until })).toString('base64url');
      return `${packetPath}${text}.${macOf(key, text).toString('base64url')}`;
    },
    verify(token, act, now) {
      const [text = '', given = ''] = token.length > maxTokenLength ? [] : token.split('.');
      const claimed = Buffer.from(given, 'base64url');
      const isOurs = known.some((each) => {
        const mac = macOf(each, text);
        return claimed.length === mac.length && timingSafeEqual(claimed, mac);
      });
      if (!isOurs) {
        throw refused('This address is not one that this server signed. Ask for a new one.');
      }
      const grant = JSON.parse(Buffer.from(text, 'base64url').toString('utf8')) as PacketGrant;
      if (grant.act !== act) {
        throw refused(`This address is for ${grant.act.toUpperCase()} requests. Ask for another one.`);
      }
      if (now > grant.until) throw refused('This address is over. Ask for a new one.');
      return grant;
    },
  };
}

/** Final: an address does not become good by asking again. */
const refused = (message: string) => new Problem(403, message, {}, false);

const macOf = (key: Buffer, text: string): Buffer => createHmac('sha256', key).update(text).digest();

/** A key for this alone, so that nothing signed here passes for something sealed there. */
const keyOf = (master: KeyObject): Buffer =>
  Buffer.from(hkdfSync('sha256', master.export(), '', 'millrace packet addresses', 32));
