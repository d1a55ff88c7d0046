import { eq } from 'drizzle-orm';
import { drizzle } from 'drizzle-orm/node-postgres';
import { integer, pgTable } from 'drizzle-orm/pg-core';

export default async () => {
  const mails = pgTable('mails', { id: integer() });
  return drizzle('postgres://127.0.0.1:1/none').select().from(mails).where(eq(mails.id, 1)).toSQL().sql;
};
