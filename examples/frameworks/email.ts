import { z } from 'zod';

/** What the task takes. Web servers check requests with it, too. */
export const email = z.object({ to: z.email(), subject: z.string().min(1).max(200) });
