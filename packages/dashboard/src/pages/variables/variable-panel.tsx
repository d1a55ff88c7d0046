import type { EnvironmentVariable, VariableRevision } from '@millrace/contract';
import { Button } from '../../parts/button.tsx';
import { CodeBlock } from '../../parts/code/code-tabs.tsx';
import { TextBlock } from '../../parts/json/json-tree.tsx';
import { Section } from '../../parts/page.tsx';
import { SidePanel } from '../../parts/panel/side-panel.tsx';
import { Person } from '../../parts/people.tsx';
import { useSearchTexts } from '../../parts/search.ts';
import { Time } from '../../parts/time/time.tsx';
import { actText } from './revisions.ts';

interface VariablePanelProps {
  readonly variable: EnvironmentVariable | undefined;
  readonly revisions: readonly VariableRevision[];
  readonly onAct?: (what: 'change' | 'delete', name: string) => void;
}

/** One variable: its whole value, and when it was changed. */
export function VariablePanel({ variable, revisions, onAct }: VariablePanelProps) {
  const [, setSearch] = useSearchTexts();
  return (
    <SidePanel
      isOpen={variable !== undefined}
      onClose={() => setSearch({ name: undefined })}
      title={variable?.name ?? ''}
      actions={
        variable &&
        onAct && (
          <>
            <Button icon="pencil" onClick={() => onAct('change', variable.name)}>
              Change
            </Button>
            <Button icon="trash" variant="danger" onClick={() => onAct('delete', variable.name)}>
              Delete
            </Button>
          </>
        )
      }
    >
      {variable && (
        <div className="stack">
          <Section title="Value">
            {variable.isSecret ? (
              <p className="muted">
                Secret: no browser, list or history shows it, and it is redacted from logs, outputs and
                errors. Programs that run in the environment read it with a secret key (
                <code>npx millrace env pull</code>).
              </p>
            ) : variable.value === '' ? (
              <p className="muted">Empty.</p>
            ) : (
              <TextBlock text={variable.value} label="Value" />
            )}
          </Section>
          {variable.isInherited !== undefined && (
            <p className="muted">
              {variable.isInherited
                ? 'This value comes from the parent. A change here applies to this branch only.'
                : 'This value is set on the branch. It overrides a value of the parent.'}
            </p>
          )}
          <Section title="In code">
            <CodeBlock text={`process.env.${variable.name}`} />
          </Section>
          <Section title="Changes">
            <ChangesOf name={variable.name} revisions={revisions} />
          </Section>
        </div>
      )}
    </SidePanel>
  );
}

function ChangesOf({
  name,
  revisions,
}: {
  readonly name: string;
  readonly revisions: readonly VariableRevision[];
}) {
  const [, setSearch] = useSearchTexts();
  const own = revisions.filter(({ changes }) => changes.some((change) => change.name === name));
  if (own.length === 0)
    return <p className="muted">None among the last {revisions.length} changes of the environment.</p>;
  return (
    <ul className="variable-changes">
      {own.map((entry) => (
        <li key={entry.revision} className="row spread">
          <Button
            variant="plain"
            onClick={() =>
              setSearch({ tab: 'history', revision: String(entry.revision), name: undefined }, { push: true })
            }
          >
            Revision {entry.revision}
          </Button>
          <span className="muted cut">
            {actText(entry)}
            {entry.userId !== undefined && (
              <>
                {' '}
                by <Person id={entry.userId} isInline />
              </>
            )}
          </span>
          <Time at={entry.at} />
        </li>
      ))}
    </ul>
  );
}
