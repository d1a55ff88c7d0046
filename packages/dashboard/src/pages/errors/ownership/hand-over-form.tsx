import { useId, useState } from 'react';
import { useSession } from '../../../api/session.ts';
import { Button } from '../../../parts/button.tsx';
import { fieldError, TextArea, TextField } from '../../../parts/form/field.tsx';
import { FormError } from '../../../parts/form/form-error.tsx';
import { usePeople } from '../../../parts/people.tsx';
import type { HandOver } from './hand-over.ts';

interface HandOverFormProps {
  readonly values: HandOver;
  readonly error: unknown;
  /** The owner of the task, who is responsible without an assignment. */
  readonly taskOwner: string | undefined;
  /** Names to suggest. */
  readonly owners: readonly string[];
  readonly onSubmit: (values: HandOver) => void;
}

const fields = ['assignee', 'note', 'ticketUrl'];

/** The fields for the owner, the note and the ticket of an error. */
export function HandOverForm({ values, error, taskOwner, owners, onSubmit }: HandOverFormProps) {
  const [owner, setOwner] = useState(values.owner);
  const [note, setNote] = useState(values.note);
  const [ticketUrl, setTicketUrl] = useState(values.ticketUrl);
  const { user } = useSession();
  const people = usePeople();
  const names = useId();
  const addresses = [...people.values()].flatMap(({ email }) => (email === undefined ? [] : [email]));
  const suggested = [...new Set([...owners, ...addresses])];
  return (
    <form
      className="stack"
      onSubmit={(event) => {
        event.preventDefault();
        onSubmit({ owner: owner.trim(), note: note.trim(), ticketUrl: ticketUrl.trim() });
      }}
    >
      <TextField
        label="Owner"
        list={names}
        placeholder={taskOwner ?? 'such as @payments'}
        hint={`The email address of a member, or a name such as @payments. Leave empty for ${
          taskOwner === undefined ? 'no owner' : `the owner of the task, ${taskOwner}`
        }.`}
        value={owner}
        onChange={(event) => setOwner(event.target.value)}
        error={fieldError(error, 'assignee')}
      />
      <datalist id={names}>
        {suggested.map((name) => (
          <option key={name} value={name} />
        ))}
      </datalist>
      <Button onClick={() => setOwner(user.email ?? user.id)}>Assign to me</Button>
      <TextArea
        label="Note"
        rows={4}
        maxLength={2_000}
        value={note}
        onChange={(event) => setNote(event.target.value)}
        error={fieldError(error, 'note')}
      />
      <TextField
        label="Ticket"
        inputMode="url"
        placeholder="https://tracker.example.com/PAY-17"
        value={ticketUrl}
        onChange={(event) => setTicketUrl(event.target.value)}
        error={fieldError(error, 'ticketUrl')}
      />
      <FormError error={error} fields={fields} />
      <div className="form-actions">
        <Button type="submit" variant="main">
          Hand over
        </Button>
      </div>
    </form>
  );
}
