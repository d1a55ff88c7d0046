import { z } from 'zod';

/** The payload of the task. Web servers also validate requests with it. */
export const email = z.object({ to: z.email(), subject: z.string().min(1).max(200) });
