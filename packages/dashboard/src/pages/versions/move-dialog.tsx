import type { Deployment } from '@millrace/contract';
import { useState } from 'react';
import { useAct, useAsk } from '../../api/ask.ts';
import type { ReplyOf } from '../../api/operation-types.ts';
import { Button } from '../../parts/button.tsx';
import { countText } from '../../parts/count-text.ts';
import { Dialog } from '../../parts/dialog/dialog.tsx';
import { CheckField, SelectField } from '../../parts/form/field.tsx';
import { FormError } from '../../parts/form/form-error.tsx';
import { outdated } from './outdated.ts';
import { compareVersions } from './state-badge.ts';
import '../../parts/plot/plot.css';

type Move = ReplyOf<'moveDeployment'>;
type MovableStatus = Move['waiting'][number]['status'];

const statusWords: Readonly<Record<MovableStatus, string>> = {
  QUEUED: 'Queued',
  DELAYED: 'Delayed',
  RETRYING: 'Between two attempts',
  WAITING: 'Suspended',
  PENDING_VERSION: 'The version lacks their task',
};
const statuses = Object.keys(statusWords) as readonly MovableStatus[];

interface MoveDialogProps {
  readonly version: Deployment;
  readonly current: Deployment | undefined;
  readonly onClose: () => void;
}

/** Binds the waiting runs of a version to another one. First it shows the runs that would be moved. */
export function MoveDialog({ version, current, onClose }: MoveDialogProps) {
  const list = useAsk('listDeployments', { query: { 'page[size]': 100 } });
  const others = (list.data?.data ?? []).filter(
    ({ id, state }) => id !== version.id && ['ready', 'current', 'draining', 'drained'].includes(state),
  );
  const [chosen, setChosen] = useState<string>();
  const [only, setOnly] = useState<readonly MovableStatus[]>(statuses);
  const [moved, setMoved] = useState(0);
  const to = chosen ?? others.find(({ id }) => id === current?.id)?.version ?? others[0]?.version;
  const body = { to: to ?? '', ...(only.length < statuses.length && { status: [...only] }) };
  const params = { version: version.version };
  const preview = useAct('moveDeployment', { invalidates: [], showsErrors: true });
  const move = useAct('moveDeployment', {
    invalidates: outdated,
    showsErrors: true,
    onDone: (reply) => {
      setMoved((before) => before + reply.moved);
      // A call moves a limited number within some seconds; repeating it continues.
      if (!reply.isComplete && reply.moved > 0) move.mutate({ params, body });
    },
  });
  const anew = (): void => {
    preview.reset();
    move.reset();
    setMoved(0);
  };
  const plan = preview.data;
  const total = plan?.waiting.reduce((sum, { count }) => sum + count, 0) ?? 0;
  const isOver = move.isSuccess && move.data.isComplete;
  const error = move.error ?? preview.error;
  const isOlder = to !== undefined && compareVersions(to, version.version) < 0;

  return (
    <Dialog isOpen onClose={onClose} title={`Move the runs of ${version.version}`} isWide>
      <form
        className="stack"
        onSubmit={(event) => {
          event.preventDefault();
          if (plan && total > 0) move.mutate({ params, body });
          else preview.mutate({ params, body: { ...body, dryRun: true } });
        }}
      >
        <p className="muted">
          Waiting runs continue with the code of another version. Active attempts stay on their version.
        </p>
        <SelectField
          label="To the version"
          value={to ?? ''}
          disabled={move.isPending || isOver}
          onChange={(event) => {
            setChosen(event.target.value);
            anew();
          }}
          options={others.map((deployment) => ({
            value: deployment.version,
            label: `${deployment.version}${deployment.state === 'current' ? ', current' : ''}`,
          }))}
          hint={isOlder ? 'It is older than the version that the runs are on.' : undefined}
        />
        <fieldset className="move-statuses" disabled={move.isPending || isOver}>
          <legend className="field-label">Which runs</legend>
          {statuses.map((status) => (
            <CheckField
              key={status}
              label={statusWords[status]}
              checked={only.includes(status)}
              onChange={(event) => {
                setOnly(event.target.checked ? [...only, status] : only.filter((other) => other !== status));
                anew();
              }}
            />
          ))}
        </fieldset>
        {plan && <Plan plan={plan} total={total} />}
        {(move.isPending || isOver || moved > 0) && (
          <p className={`notice ${isOver ? 'tone-good' : 'tone-busy'}`} role="status">
            <span>
              {isOver
                ? `${countText(moved, 'run')} moved to ${to ?? ''}.`
                : `${countText(moved, 'run')} of ${total} moved.`}
            </span>
          </p>
        )}
        <FormError error={error} />
        <div className="form-actions">
          <Button onClick={onClose}>{isOver ? 'Close' : 'Cancel'}</Button>
          {!isOver && (
            <Button
              type="submit"
              variant="main"
              isBusy={preview.isPending || move.isPending}
              disabled={
                to === undefined ||
                only.length === 0 ||
                (plan !== undefined && (total === 0 || plan.missingTasks.length > 0))
              }
            >
              {plan === undefined ? 'Preview the move' : `Move ${countText(total, 'run')}`}
            </Button>
          )}
        </div>
      </form>
    </Dialog>
  );
}

const Plan = ({ plan, total }: { readonly plan: Move; readonly total: number }) => (
  <div className="stack" role="status">
    {total === 0 ? (
      <p className="muted">No matching runs wait on this version.</p>
    ) : (
      <table className="plain-table">
        <thead>
          <tr>
            <th scope="col">Task</th>
            <th scope="col">Waiting state</th>
            <th scope="col" className="number">
              Runs
            </th>
          </tr>
        </thead>
        <tbody>
          {plan.waiting.map(({ task, status, count }) => (
            <tr key={`${task} ${status}`}>
              <td>
                <code>{task}</code>
              </td>
              <td>{statusWords[status]}</td>
              <td className="number">{count.toLocaleString('en')}</td>
            </tr>
          ))}
        </tbody>
      </table>
    )}
    {plan.staying > 0 && (
      <p className="muted">{countText(plan.staying, 'attempt')} active: they do not move.</p>
    )}
    {plan.missingTasks.length > 0 && (
      <p className="notice tone-bad">
        <span>
          {plan.to} lacks {countText(plan.missingTasks.length, 'task')}: {plan.missingTasks.join(', ')}.
          Nothing can be moved to it.
        </span>
      </p>
    )}
  </div>
);
