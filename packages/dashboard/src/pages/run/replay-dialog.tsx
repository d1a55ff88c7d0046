import { useState } from 'react';
import { useAct } from '../../api/ask.ts';
import { Button } from '../../parts/button.tsx';
import { Dialog } from '../../parts/dialog/dialog.tsx';
import { fieldError, TextArea } from '../../parts/form/field.tsx';
import type { RunDetail } from './use-run.ts';

interface ReplayDialogProps {
  readonly run: RunDetail;
  readonly isOpen: boolean;
  readonly onClose: () => void;
  readonly onStarted: (id: string) => void;
}

/** Starts a new run with the payload of an old one, which can be edited. */
export const ReplayDialog = ({ run, isOpen, onClose, onStarted }: ReplayDialogProps) => (
  <Dialog isOpen={isOpen} onClose={onClose} title={`Replay ${run.taskIdentifier}`} isWide>
    <ReplayForm run={run} onStarted={onStarted} />
  </Dialog>
);

/** Longer payloads are replayed unchanged: a text field of megabytes is unusable. */
const maxEdited = 200_000;

/** The payload for editing; undefined if it is too large or not available. */
export function editableText(run: Pick<RunDetail, 'payload' | 'payloadPresignedUrl'>): string | undefined {
  if (run.payloadPresignedUrl !== undefined) return undefined;
  const text = run.payload === undefined ? '' : JSON.stringify(run.payload, undefined, 2);
  return text.length > maxEdited ? undefined : text;
}

function ReplayForm({ run, onStarted }: Pick<ReplayDialogProps, 'run' | 'onStarted'>) {
  const original = editableText(run);
  const [text, setText] = useState(original ?? '');
  const [wrong, setWrong] = useState<string>();
  const replay = useAct('replayRun', { showsErrors: true, onDone: ({ id }) => onStarted(id) });
  const isEdited = original !== undefined && text !== original;

  const submit = (): void => {
    setWrong(undefined);
    if (!isEdited) return replay.mutate({ params: { runId: run.id } });
    try {
      const payload: unknown = JSON.parse(text);
      replay.mutate({ params: { runId: run.id }, body: { payload, payloadType: 'application/json' } });
    } catch (error) {
      setWrong(`This is not JSON: ${(error as Error).message}`);
    }
  };

  return (
    <form
      className="stack"
      onSubmit={(event) => {
        event.preventDefault();
        submit();
      }}
    >
      {original === undefined ? (
        <p className="muted">The payload is too large to edit here; the replay uses it unchanged.</p>
      ) : (
        <TextArea
          label="Payload"
          code
          rows={14}
          value={text}
          onChange={(event) => setText(event.target.value)}
          hint="JSON. The replay uses the queue, tags and machine of the original run, and the current version."
          error={wrong ?? fieldError(replay.error, 'payload')}
        />
      )}
      {replay.error && (
        <p className="field-error" role="alert">
          {replay.error.message}
        </p>
      )}
      <div className="form-actions">
        {isEdited && (
          <Button variant="plain" onClick={() => setText(original)}>
            Reset
          </Button>
        )}
        <Button type="submit" variant="main" icon="replay" isBusy={replay.isPending}>
          {isEdited ? 'Replay with this payload' : 'Replay'}
        </Button>
      </div>
    </form>
  );
}
