import type { VariableRevision } from '@millrace/contract';

const signs = { added: '+', changed: '~', removed: '−' } as const;
const tones = { added: 'tone-good', changed: 'tone-warn', removed: 'tone-bad' } as const;
const verbs = { added: 'added', changed: 'changed', removed: 'removed' } as const;

/** `+ADDED ~CHANGED −REMOVED`. */
export const ChangedNames = ({ changes }: Pick<VariableRevision, 'changes'>) => (
  <span className="changed-names cut">
    {changes.slice(0, 8).map(({ name, change }) => (
      <code key={name}>
        <span className={tones[change]} aria-hidden="true">
          {signs[change]}
        </span>
        <span className="hidden-text">{verbs[change]} </span>
        {name}
      </code>
    ))}
    {changes.length > 8 && <span className="muted">and {changes.length - 8} more</span>}
  </span>
);
