import type { Deployment } from '@millrace/contract';
import { useState } from 'react';
import { useAct } from '../../api/ask.ts';
import { Button } from '../../parts/button.tsx';
import { Confirm } from '../../parts/dialog/confirm.tsx';
import { Dialog } from '../../parts/dialog/dialog.tsx';
import { CheckField, TextField } from '../../parts/form/field.tsx';
import { FormError } from '../../parts/form/form-error.tsx';
import { outdated } from './outdated.ts';
import { isBefore } from './state-badge.ts';

interface CanaryDialogProps {
  readonly version: Deployment;
  readonly current: Deployment | undefined;
  readonly onClose: () => void;
}

const usual = [1, 5, 10, 25, 50];

/** Starts a percentage of the new runs on a version, and the others on the current one. */
export function CanaryDialog({ version, current, onClose }: CanaryDialogProps) {
  const [text, setText] = useState(String(version.canaryPercent ?? 10));
  const [force, setForce] = useState(false);
  const set = useAct('promoteDeployment', {
    invalidates: outdated,
    showsErrors: true,
    done: (reply) => `${reply.canaryPercent ?? 0} % of new runs start on ${reply.version}`,
    onDone: onClose,
  });
  const percent = Number(text);
  const isWrong = !Number.isInteger(percent) || percent < 1 || percent > 99;
  return (
    <Dialog isOpen onClose={onClose} title={`Canary ${version.version}`}>
      <form
        className="stack"
        onSubmit={(event) => {
          event.preventDefault();
          const query = { percent, force, allowRollbacks: isBefore(version, current) };
          set.mutate({ params: { version: version.version }, query });
        }}
      >
        <p className="muted">
          A share of the new runs starts on it. The others start on <code>{current?.version}</code>. A run
          that has started stays on its version.
        </p>
        <TextField
          label="Percent of new runs"
          inputMode="numeric"
          className="number"
          value={text}
          error={
            isWrong ? 'Enter a whole number from 1 to 99. For all runs, promote the version.' : undefined
          }
          onChange={(event) => setText(event.target.value)}
        />
        <div className="row wrap" role="group" aria-label="Common shares">
          {usual.map((share) => (
            <Button key={share} aria-pressed={share === percent} onClick={() => setText(String(share))}>
              {share} %
            </Button>
          ))}
        </div>
        {version.runners === 0 && (
          <CheckField
            label="Start even if no connected runner has loaded it"
            hint="Its share of new runs waits until a runner has loaded it."
            checked={force}
            onChange={(event) => setForce(event.target.checked)}
          />
        )}
        <FormError error={set.error} />
        <div className="form-actions">
          <Button onClick={onClose}>Cancel</Button>
          <Button type="submit" variant="main" isBusy={set.isPending} disabled={isWrong}>
            Start {isWrong ? '' : `${percent} % of `}new runs on it
          </Button>
        </div>
      </form>
    </Dialog>
  );
}

/** Starts all new runs on the current version again. */
export function AbortCanaryDialog({ version, current, onClose }: CanaryDialogProps) {
  const abort = useAct('abortCanary', {
    invalidates: outdated,
    showsErrors: true,
    done: ({ version: ended }) => `The canary ${ended} has ended`,
    onDone: onClose,
  });
  return (
    <Confirm
      isOpen
      onClose={onClose}
      title={`End the canary ${version.version}?`}
      action="End the canary"
      isBusy={abort.isPending}
      error={abort.error?.message}
      onConfirm={() => abort.mutate({ params: { version: version.version } })}
    >
      All new runs start on <code>{current?.version}</code> again. Runs that have started on the canary stay
      on it; they can be moved.
    </Confirm>
  );
}
