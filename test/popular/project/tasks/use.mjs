import { task } from '@millrace/sdk';

/** Uses one package. Each is imported by a run, so that one which cannot be imported fails alone. try.ts fills the folder. */
const run = async ({ name }) => {
  const { default: used } = await import(`../chosen/${name}.mjs`);
  return used();
};

const settings = { retry: { maxAttempts: 1 }, maxDuration: 60, run };

export const together = task({ id: 'together', ...settings });

/** For packages that change what is global, or end the process. */
export const alone = task({ id: 'alone', isolated: true, ...settings });
