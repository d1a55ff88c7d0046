import { useId, useState, type FormEvent } from 'react';
import { useAct, useAsk } from '../../api/ask.ts';
import { Button } from '../../parts/button.tsx';
import { Dialog } from '../../parts/dialog/dialog.tsx';
import { SelectField, TextArea, TextField } from '../../parts/form/field.tsx';
import { toast } from '../../api/toasts.ts';
import { countText } from '../../parts/count-text.ts';
import { zonedInstant } from '../../parts/time/zoned.ts';
import { useTimeZone } from '../../parts/time/zone.ts';
import { matchesName } from './matches.ts';

interface SendDialogProps {
  readonly name: string;
  readonly onClose: () => void;
  readonly onSent: (eventId: string) => void;
}

type Delivery = 'now' | 'after' | 'at';

const deliveries: readonly { readonly value: Delivery; readonly label: string }[] = [
  { value: 'now', label: 'Now' },
  { value: 'after', label: 'After a delay' },
  { value: 'at', label: 'At a specific time' },
];

/** The value of a JSON text, or a sentence if it is invalid. An empty text means no value. */
function readJson(text: string): { readonly value: unknown } | { readonly error: string } {
  if (text.trim() === '') return { value: undefined };
  try {
    return { value: JSON.parse(text) as unknown };
  } catch (error) {
    return { error: `This is not JSON: ${error instanceof Error ? error.message : 'it ends too early'}` };
  }
}

/** Sends an event. It first shows which tasks subscribe to its name. */
export function SendDialog({ name: initialName, onClose, onSent }: SendDialogProps) {
  const listId = useId();
  const zone = useTimeZone();
  // Stable while the dialog is open: repeating the request after a lost response sends the same event.
  const [randomId] = useState(() => crypto.randomUUID());
  const [name, setName] = useState(
    initialName.includes('*') ? initialName.slice(0, initialName.indexOf('*')) : initialName,
  );
  const [payload, setPayload] = useState('{\n  \n}');
  const [id, setId] = useState('');
  const [delivery, setDelivery] = useState<Delivery>('now');
  const [time, setTime] = useState('');
  const [wrong, setWrong] = useState<{ readonly payload?: string; readonly time?: string }>({});
  const tasks = useAsk('listTasks', {});
  const send = useAct('sendEvent', {
    showsErrors: true,
    invalidates: ['listEvents', 'retrieveEvent', 'listRuns', 'countRuns'],
    onDone: (sent) => {
      toast({
        title: sent.isDuplicate
          ? 'An event with this id already exists. Nothing was sent.'
          : sent.status === 'PENDING'
            ? 'Event scheduled.'
            : `Event sent. ${countText(sent.runs.length, 'run')} started.`,
      });
      onSent(sent.id);
    },
  });
  const subscriptions = (tasks.data?.data ?? []).flatMap((task) =>
    task.on ? [{ task: task.id, name: task.on.name, hasFilter: task.on.filter !== undefined }] : [],
  );
  const matching =
    name === '' ? [] : subscriptions.filter((subscription) => matchesName(subscription.name, name));

  const submit = (event: FormEvent): void => {
    event.preventDefault();
    const read = readJson(payload);
    const at = delivery === 'at' ? zonedInstant(time, zone) : undefined;
    const found = {
      ...('error' in read && { payload: read.error }),
      ...(delivery === 'at' && at === undefined && { time: 'Choose a date and a time.' }),
      ...(delivery === 'after' && time.trim() === '' && { time: 'Enter a duration, such as 90s or 1h30m.' }),
    };
    setWrong(found);
    if ('error' in read || Object.keys(found).length > 0) return;
    send.mutate({
      body: {
        id: id.trim() === '' ? randomId : id.trim(),
        event: {
          name,
          ...(read.value !== undefined && { payload: read.value }),
          ...(delivery === 'after' && { deliverAfter: time.trim() }),
          ...(at !== undefined && { deliverAt: new Date(at).toISOString() }),
        },
      },
    });
  };

  return (
    <Dialog isOpen onClose={onClose} title="Send an event" isWide>
      <form className="stack" onSubmit={submit}>
        <TextField
          label="Name"
          hint={
            name === '' ? (
              'Such as order.created.'
            ) : tasks.isPending ? (
              'Loading subscriptions'
            ) : matching.length === 0 ? (
              'No task is subscribed to this name: the event is stored, but triggers nothing.'
            ) : (
              <>
                Starts{' '}
                {matching
                  .map(({ task, hasFilter }) => `${task}${hasFilter ? ' (if its filter matches)' : ''}`)
                  .join(', ')}
                .
              </>
            )
          }
          list={listId}
          required
          maxLength={255}
          spellCheck={false}
          value={name}
          onChange={(event) => setName(event.target.value)}
        />
        <datalist id={listId}>
          {[...new Set(subscriptions.map((subscription) => subscription.name))]
            .filter((eventName) => !eventName.includes('*'))
            .map((eventName) => (
              <option key={eventName} value={eventName} />
            ))}
        </datalist>
        <TextArea
          label="Payload"
          hint="JSON, passed to the runs. Leave empty for none."
          code
          rows={8}
          value={payload}
          error={wrong.payload}
          onChange={(event) => setPayload(event.target.value)}
        />
        <div className="event-fields">
          <SelectField
            label="Deliver"
            options={deliveries}
            value={delivery}
            onChange={(event) => {
              setDelivery(event.target.value as Delivery);
              setTime('');
            }}
          />
          {delivery === 'after' && (
            <TextField
              label="Delay"
              hint="Such as 90s or 1h30m."
              value={time}
              error={wrong.time}
              onChange={(event) => setTime(event.target.value)}
            />
          )}
          {delivery === 'at' && (
            <TextField
              label={`Time, in ${zone}`}
              type="datetime-local"
              value={time}
              error={wrong.time}
              onChange={(event) => setTime(event.target.value)}
            />
          )}
          <TextField
            label="Id"
            hint="Events with the same id are sent once. Leave empty to generate one."
            spellCheck={false}
            maxLength={255}
            value={id}
            onChange={(event) => setId(event.target.value)}
          />
        </div>
        {send.error && (
          <p className="field-error" role="alert">
            {send.error.message}
          </p>
        )}
        <div className="form-actions">
          <Button onClick={onClose}>Cancel</Button>
          <Button type="submit" variant="main" isBusy={send.isPending}>
            Send the event
          </Button>
        </div>
      </form>
    </Dialog>
  );
}
