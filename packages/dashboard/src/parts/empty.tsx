import type { ReactNode } from 'react';
import { CopyButton } from './copy.tsx';
import './states.css';

interface EmptyProps {
  /** The missing content: "No runs match". */
  readonly title: string;
  /** The next step. */
  readonly children?: ReactNode;
  /** The command that fills it. */
  readonly command?: string;
  readonly action?: ReactNode;
}

/** A placeholder for missing content, with the next step. */
export const Empty = ({ title, children, command, action }: EmptyProps) => (
  <div className="empty">
    <p className="strong">{title}</p>
    {children && <div className="muted">{children}</div>}
    {command !== undefined && <Command text={command} />}
    {action}
  </div>
);

/** A command to copy. */
export const Command = ({ text }: { readonly text: string }) => (
  <div className="command">
    <code tabIndex={0}>
      <span className="muted" aria-hidden="true">
        ${' '}
      </span>
      {text}
    </code>
    <CopyButton text={text} what="Copy command" />
  </div>
);
