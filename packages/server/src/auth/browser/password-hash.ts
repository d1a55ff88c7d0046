/** Hashes passwords with scrypt. The parameters and the salt are stored with the hash, in the format of PHC strings. */
import { randomBytes, scrypt, timingSafeEqual } from 'node:crypto';
import { Problem } from '../../problem.ts';

interface Cost {
  /** Logarithm of the memory and time cost. */
  readonly ln: number;
  /** Block size. */
  readonly r: number;
  /** Repetitions. */
  readonly p: number;
}

/** 32 MiB and about a fifth of a second: one of the settings that OWASP recommends. */
const cost: Cost = { ln: 15, r: 8, p: 3 };
const hashBytes = 32;

const form = /^\$scrypt\$ln=(\d{1,2}),r=(\d{1,2}),p=(\d{1,2})\$([\w+/]+)\$([\w+/]+)$/;

/** Hashing uses memory and threads that the rest of the server needs, so only a few calls run at a time, and few may wait. */
const maxAtOnce = 2;
const maxWaiting = 20;
let running = 0;
const waiting: (() => void)[] = [];

async function inTurn<T>(act: () => Promise<T>): Promise<T> {
  if (running >= maxAtOnce) {
    if (waiting.length >= maxWaiting)
      throw new Problem('rate_limited', 'Too many password logins at the moment: try again in a few seconds');
    await new Promise<void>((resolve) => waiting.push(resolve));
  } else running++;
  try {
    return await act();
  } finally {
    // The next waiting call takes over the slot.
    const next = waiting.shift();
    if (next) next();
    else running--;
  }
}

const derive = (password: string, salt: Buffer, { ln, r, p }: Cost): Promise<Buffer> =>
  inTurn(
    () =>
      new Promise((resolve, reject) => {
        const N = 2 ** ln;
        // The same characters may be typed as different code points.
        scrypt(password.normalize('NFKC'), salt, hashBytes, { N, r, p, maxmem: 256 * N * r }, (error, key) =>
          error ? reject(error) : resolve(key),
        );
      }),
  );

const encoded = (bytes: Buffer): string => bytes.toString('base64').replace(/=+$/, '');

const textOf = ({ ln, r, p }: Cost, salt: Buffer, key: Buffer): string =>
  `$scrypt$ln=${ln},r=${r},p=${p}$${encoded(salt)}$${encoded(key)}`;

export async function hashPassword(password: string): Promise<string> {
  const salt = randomBytes(16);
  return textOf(cost, salt, await derive(password, salt, cost));
}

/** A hash that matches no password, checked for unknown users so that response times do not reveal which users have one. */
const nobodys = textOf(cost, Buffer.alloc(16), Buffer.alloc(hashBytes));

/** Whether the password matches the hash. Without a hash, it takes the same time and returns false. */
export async function isPassword(password: string, stored: string | undefined): Promise<boolean> {
  const [, ln, r, p, salt = '', expected = ''] = form.exec(stored ?? nobodys) ?? [];
  const key = await derive(password, Buffer.from(salt, 'base64'), {
    ln: Number(ln),
    r: Number(r),
    p: Number(p),
  });
  const isSame = timingSafeEqual(key, Buffer.from(expected, 'base64'));
  return isSame && stored !== undefined;
}
