import { z } from 'zod';

export default async () => z.object({ n: z.coerce.number() }).parse({ n: '1' });
