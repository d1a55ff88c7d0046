import type { ReactNode } from 'react';
import { CopyButton } from './copy.tsx';
import { shortId } from './id-text.ts';
import { visibleControls } from './json/visible-controls.ts';
import './id.css';

/**
 * An id with a button that copies it. To make it a link: `<Id id={run.id}><Link …>{run.id}</Link></Id>`. `short`: its beginning and end, for
 * tables.
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
  <span className="id" data-tip={short ? visibleControls(id) : undefined}>
    <code className="cut">{children ?? visibleControls(short ? shortId(id) : id)}</code>
    <CopyButton text={id} what="Copy id" />
  </span>
);
