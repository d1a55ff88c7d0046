/** Passwords of users, only for browser logins. */
import type { Body, Operations, Reply } from '@millrace/contract';
import { hashPassword, isPassword } from '../../auth/browser/password-hash.ts';
import { liveSession } from '../../auth/browser/live.ts';
import type { Actor } from '../../audit/record.ts';
import type { Sql } from '../../db/connect.ts';
import { unauthorized, unprocessable } from '../../problem.ts';
import { recordForUser } from '../tokens.ts';
import type { LoggedIn } from './sessions.ts';

/** Sets or removes the user's password, and ends all their browser sessions, including those of others who knew the old password. */
export async function setPassword(
  sql: Sql,
  userId: string,
  { password, email }: Body<Operations['setPassword']>,
  by: Actor,
): Promise<Reply<Operations['setPassword']>> {
  const hash = password === null ? null : await hashPassword(password);
  return sql.begin(async (tx) => {
    const [user] = await tx<{ email: string | null }[]>`
      select email from users where id = ${userId} for update`;
    const address = user?.email ?? email ?? null;
    if (hash !== null && address === null)
      throw unprocessable('email: required, because you have no e-mail address to log in with yet');
    if (email !== undefined && address?.toLowerCase() !== email.toLowerCase())
      throw unprocessable(`email: your address is ${address} and cannot be changed here. Leave it out.`);
    if (user?.email === null && address !== null) {
      const [taken] = await tx`select from users where lower(email) = lower(${address}) limit 1`;
      if (taken) throw unprocessable('email: another user has this address. Use another one.');
      await tx`update users set email = ${address} where id = ${userId}`;
    }
    if (hash === null) await tx`delete from passwords where user_id = ${userId}`;
    else
      await tx`
        insert into passwords (user_id, hash) values (${userId}, ${hash})
        on conflict (user_id) do update set hash = excluded.hash, set_at = now()`;
    await tx`
      update browser_sessions t set revoked_at = now() where t.user_id = ${userId} and ${liveSession(tx)}`;
    await recordForUser(tx, userId, by, {
      act: hash === null ? 'password.removed' : 'password.set',
      target: userId,
    });
    return { email: address, hasPassword: hash !== null };
  });
}

/** The user with this address and password. All failures have the same response, so that it does not reveal which users exist. */
export async function logInByPassword(sql: Sql, email: string, password: string): Promise<LoggedIn> {
  const [found] = await sql<{ userId: string; hash: string }[]>`
    select p.user_id as "userId", p.hash from users u join passwords p on p.user_id = u.id
     where lower(u.email) = lower(${email}) order by u.email = ${email} desc, u.id limit 1`;
  if (!(await isPassword(password, found?.hash)) || !found)
    throw unauthorized('Wrong e-mail address or password');
  return { userId: found.userId, method: 'password', token: null };
}
