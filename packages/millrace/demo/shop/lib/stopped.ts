/**
 * Throws an error that is grouped by the step at which an order stopped. The cause has its own group in that step's task.
 */
export const stoppedAt =
  (step: string) =>
  (cause: Error): never => {
    throw Object.assign(new Error(`The order stopped at ${step}`, { cause }), {
      fingerprint: `order-stopped-at-${step}`,
    });
  };
