import type { ReactNode } from 'react';
import { CopyButton } from './copy.tsx';
import './id.css';

/**
 * An id with a button that copies it. Put a link inside to lead somewhere: `<Id id={run.id}><Link …>{run.id}</Link></Id>`. `short`: its beginning
 * and its end, for tables.
 */
export const Id = ({
  id,
  short = false,
  children,
}: {
  readonly id: string;
  readonly short?: boolean;
  readonly children?: ReactNode;
}) => (
  <span className="id" data-tip={short ? id : undefined}>
    <code className="cut">{children ?? (short ? shortId(id) : id)}</code>
    <CopyButton text={id} what="Copy id" />
  </span>
);

/** @example shortId('run_01kq4h2m0v8x5t3n9w7c6d5e4f') // 'run_…c6d5e4f' */
export function shortId(id: string): string {
  const [, prefix = ''] = /^([a-z]+_)/.exec(id) ?? [];
  return id.length <= prefix.length + 10 ? id : `${prefix}…${id.slice(-7)}`;
}
