import { sql } from 'slonik';
import { z } from 'zod';

export default async () => sql.type(z.object({ n: z.number() }))`select ${1} as n`.sql;
