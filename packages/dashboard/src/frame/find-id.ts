/** The pages of ids, by prefix of the id. */
const pages: readonly (readonly [prefix: RegExp, page: string, what: string])[] = [
  [/^run_[0-9a-z]+$/, 'runs', 'run'],
  [/^error_\w+$/, 'errors', 'error'],
  [/^batch_[0-9a-z]+$/, 'batches', 'batch'],
  [/^bulk(?:_action)?_[0-9a-z]+$/, 'bulk', 'bulk action'],
  [/^sched_[0-9a-z]+$/, 'schedules', 'schedule'],
  [/^queue_[0-9a-z]+$/, 'queues', 'queue'],
  [/^(?:event|evt)_[0-9a-z]+$/, 'events', 'event'],
  [/^whd_[0-9a-z]+$/, 'webhook-deliveries', 'webhook delivery'],
  [/^waitpoint_[0-9a-z]+$/, 'waits', 'token'],
  [/^session_[0-9a-z]+$/, 'sessions', 'session'],
  [/^deployment_[0-9a-z]+$/, 'versions', 'version'],
  [/^runner_[0-9a-z]+$/, 'versions', 'runner'],
  [/^(?:endpoint|delivery|alert)_[0-9a-z]+$/, 'notifications', 'notification'],
];

/**
 * The page of an id, regardless of the text around it: a log line, quotes, an address. Undefined if the text contains no id.
 *
 * @example findId('failed run_01kq4h2m0v8x5') // { path: '/runs/run_01kq4h2m0v8x5', what: 'run', id: … }
 */
export function findId(
  text: string,
): { readonly path: string; readonly what: string; readonly id: string } | undefined {
  for (const id of text.match(/[a-z]+_\w+/g) ?? []) {
    const found = pages.find(([prefix]) => prefix.test(id));
    if (found) return { path: `/${found[1]}/${id}`, what: found[2], id };
  }
  return undefined;
}
