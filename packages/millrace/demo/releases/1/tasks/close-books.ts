import { schedules } from '@millrace/sdk';

export const closeBooks = schedules.task({
  id: 'close-books',
  description: 'Closes the books for the hour',
  run: ({ timestamp }) => ({ closed: timestamp.toISOString() }),
});
