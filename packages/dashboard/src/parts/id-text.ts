/**
 * An id's beginning and end, for tables.
 *
 * @example shortId('run_01kq4h2m0v8x5t3n9w7c6d5e4f') // 'run_…c6d5e4f'
 */
export function shortId(id: string): string {
  const [, prefix = ''] = /^([a-z]+_)/.exec(id) ?? [];
  return id.length <= prefix.length + 10 ? id : `${prefix}…${id.slice(-7)}`;
}
