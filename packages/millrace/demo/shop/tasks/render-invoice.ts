import { logger, task } from '@millrace/sdk';
import { z } from 'zod';

export const renderInvoice = task({
  id: 'render-invoice',
  description: 'Renders an invoice as a PDF, in a separate process because the library may crash',
  schema: z.object({
    orderId: z.string(),
    lines: z.number().int(),
    font: z.string().default('Inter'),
  }),
  isolated: true,
  maxDuration: 5,
  retry: { maxAttempts: 1 },
  run: async ({ orderId, lines, font }, { signal }) => {
    logger.info('Rendering', { orderId, lines, font });
    // The native library crashes its process if a font is damaged.
    if (font === 'Damaged Sans') process.exit(139);
    // It never finishes for very long invoices.
    if (lines > 10_000)
      await new Promise((_, reject) => {
        signal.addEventListener('abort', () => reject(signal.reason as Error));
      });
    return { orderId, pages: Math.ceil(lines / 30), bytes: 18_000 + 900 * lines };
  },
});
