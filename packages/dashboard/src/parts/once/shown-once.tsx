import type { ReactNode } from 'react';
import { CopyButton } from '../copy.tsx';
import '../states.css';
import './shown-once.css';

interface ShownOnceProps {
  /** Its kind: "Secret key". */
  readonly label: string;
  readonly text: string;
  /** Instructions for the reader. */
  readonly children?: ReactNode;
}

/** A text that the server returns only once: a new key, token or invitation. It must be copied now. */
export const ShownOnce = ({ label, text, children }: ShownOnceProps) => (
  <div className="shown-once">
    <p className="strong">{label}</p>
    <div className="command">
      <code data-once={label}>{text}</code>
      <CopyButton text={text} what={`Copy ${label.toLowerCase()}`} />
    </div>
    <p className="small">Copy it now. It is shown only once.</p>
    {children && <div className="small muted">{children}</div>}
  </div>
);
