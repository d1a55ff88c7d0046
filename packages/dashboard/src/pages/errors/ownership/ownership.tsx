import { useState } from 'react';
import { useAsk } from '../../../api/ask.ts';
import { useMay } from '../../../api/session.ts';
import { Button } from '../../../parts/button.tsx';
import { Dialog } from '../../../parts/dialog/dialog.tsx';
import { visibleControls } from '../../../parts/json/visible-controls.ts';
import { useShortcuts } from '../../../parts/keyboard.ts';
import { Section } from '../../../parts/page.tsx';
import { Person } from '../../../parts/people.tsx';
import type { ErrorDetail } from '../error-detail.ts';
import { ownersOf } from './owners-of.ts';
import { storedValues, useHandOver, type HandOver } from './hand-over.ts';
import { HandOverForm } from './hand-over-form.tsx';
import './ownership.css';

/** Who is responsible for the error, with a note and a ticket. Changes are shown before the server has stored them. */
export function Ownership({ group }: { readonly group: ErrorDetail }) {
  /** The form while it is open, with the failure of the last attempt. */
  const [form, setForm] = useState<{ readonly values: HandOver; readonly error?: unknown }>();
  const may = useMay();
  const { saving, save } = useHandOver(group);
  const tasks = useAsk('listTasks', {}).data?.data ?? [];
  const taskOwner = tasks.find(({ id }) => id === group.taskIdentifier)?.owner;
  const canChange = may('assignError') && saving === undefined;
  const open = (): void => setForm({ values: storedValues(group) });
  useShortcuts(canChange ? [{ keys: 'a', label: 'Hand the error over', run: open }] : []);
  const submit = async (values: HandOver): Promise<void> => {
    setForm(undefined);
    const error = await save(values);
    if (error !== undefined) setForm({ values, error });
  };
  const { note, ticketUrl } = saving ?? storedValues(group);
  return (
    <Section
      title="Owner"
      actions={
        canChange && (
          <Button shortcut="a" onClick={open}>
            Hand over
          </Button>
        )
      }
    >
      <div className="card ownership" aria-busy={saving !== undefined}>
        <p>
          <Responsible group={group} saving={saving} taskOwner={taskOwner} />
        </p>
        {note !== '' && <p className="ownership-note">{visibleControls(note)}</p>}
        {/^https?:/i.test(ticketUrl) && (
          <p>
            <a href={ticketUrl} target="_blank" rel="noopener noreferrer">
              {visibleControls(ticketUrl)}
            </a>
          </p>
        )}
      </div>
      <Dialog isOpen={form !== undefined} onClose={() => setForm(undefined)} title="Hand this error over">
        {form && (
          <HandOverForm
            values={form.values}
            error={form.error}
            taskOwner={taskOwner}
            owners={ownersOf(tasks)}
            onSubmit={(values) => void submit(values)}
          />
        )}
      </Dialog>
    </Section>
  );
}

function Responsible({
  group: { ownership },
  saving,
  taskOwner,
}: {
  readonly group: ErrorDetail;
  readonly saving: HandOver | undefined;
  readonly taskOwner: string | undefined;
}) {
  if (saving && saving.owner !== '') return <span className="strong">{visibleControls(saving.owner)}</span>;
  if (!saving && ownership.userId !== null)
    return (
      <>
        <span className="strong">
          <Person id={ownership.userId} />
        </span>
        {ownership.owner !== null && <span className="muted"> {visibleControls(ownership.owner)}</span>}
      </>
    );
  if (!saving && ownership.source === 'owner' && ownership.owner !== null)
    return <span className="strong">{visibleControls(ownership.owner)}</span>;
  if (taskOwner === undefined) return <span className="muted">No owner.</span>;
  return (
    <>
      <span className="strong">{visibleControls(taskOwner)}</span>
      <span className="muted"> owns the task</span>
    </>
  );
}
