import { task } from '@millrace/sdk';

/** Uses one package. Each run imports its own package, so that a failed import fails only that run. try.ts fills the folder. */
const run = async ({ name }) => {
  const { default: used } = await import(`../chosen/${name}.mjs`);
  return used();
};

const settings = { retry: { maxAttempts: 1 }, maxDuration: 60, run };

export const together = task({ id: 'together', ...settings });

/** For packages that change globals or end the process. */
export const alone = task({ id: 'alone', isolated: true, ...settings });
