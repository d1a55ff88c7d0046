import type { ReactNode } from 'react';
import { CopyButton } from './copy.tsx';
import './states.css';

interface EmptyProps {
  /** What is not there: "No runs match". */
  readonly title: string;
  /** What to do next. */
  readonly children?: ReactNode;
  /** The command that fills it. */
  readonly command?: string;
  readonly action?: ReactNode;
}

/** Says that there is nothing, and what to do next. */
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
