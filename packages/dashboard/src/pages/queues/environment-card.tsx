import { useState } from 'react';
import { useAct, useAsk } from '../../api/ask.ts';
import { useEnvironment } from '../../api/environment.ts';
import { environmentNames, useMay } from '../../api/session.ts';
import { Button } from '../../parts/button.tsx';
import { countText } from '../../parts/count-text.ts';
import { Confirm } from '../../parts/dialog/confirm.tsx';
import { Mark } from '../../parts/status/status.tsx';
import { LimitDialog } from './limit-dialog.tsx';
import { Load } from './load.tsx';
import { outdated } from './pause-button.tsx';

/** All queues together: the numbers of executing and waiting runs, with the switch that pauses everything. */
export function EnvironmentCard() {
  const [dialog, setDialog] = useState<'pause' | 'limit'>();
  const { kind } = useEnvironment();
  const may = useMay();
  const concurrency = useAsk('retrieveConcurrency', {}, { live: true });
  const update = useAct('updateConcurrency', {
    invalidates: outdated,
    showsErrors: true,
    onDone: () => setDialog(undefined),
    done: ({ paused }, { body }) =>
      body.paused === undefined
        ? 'Environment limit changed'
        : `Environment ${paused ? 'paused' : 'resumed'}`,
  });
  if (!concurrency.data) return null;
  const { paused, running, queued, concurrencyLimit } = concurrency.data;
  const name = environmentNames[kind as keyof typeof environmentNames] ?? kind;
  const close = (): void => {
    setDialog(undefined);
    update.reset();
  };
  return (
    <section className={`card environment-card ${paused ? 'is-paused' : ''}`} aria-label="All queues">
      <div className="environment-properties">
        <div>
          <p className="muted small">{name}</p>
          {paused ? (
            <Mark badge={{ word: 'Paused: no run starts', glyph: 'slashed', tone: 'warn' }} />
          ) : (
            <Mark badge={{ word: 'Runs start', glyph: 'disc', tone: 'good' }} />
          )}
        </div>
        <div>
          <p className="muted small">Running</p>
          <Load running={running} limit={concurrencyLimit} />
        </div>
        <div>
          <p className="muted small">Waiting for a slot</p>
          <span className="number">{queued.toLocaleString('en')}</span>
        </div>
      </div>
      {may('updateConcurrency') && (
        <div className="row wrap">
          <Button onClick={() => setDialog('limit')}>Change the limit</Button>
          {paused ? (
            <Button
              icon="play"
              variant="main"
              isBusy={update.isPending}
              onClick={() => update.mutate({ body: { paused: false } })}
            >
              Resume the environment
            </Button>
          ) : (
            <Button icon="pause" variant="danger" onClick={() => setDialog('pause')}>
              Pause the environment
            </Button>
          )}
        </div>
      )}
      {update.error && dialog === undefined && <p className="field-error">{update.error.message}</p>}
      <Confirm
        isOpen={dialog === 'pause'}
        onClose={close}
        title={`Pause all queues of ${name}?`}
        action={`Pause ${name}`}
        onConfirm={() => update.mutate({ body: { paused: true } })}
        isBusy={update.isPending}
        error={update.error?.message}
      >
        {countText(queued, 'waiting run')} and all new ones stay in their queues until the environment is
        resumed.{' '}
        {running === 0 ? 'No runs are executing.' : `${countText(running, 'run')} in execution continue.`}
      </Confirm>
      <LimitDialog
        isOpen={dialog === 'limit'}
        onClose={close}
        title={`Limit of ${name}`}
        hint="Maximum number of runs that execute at the same time, across all queues."
        limit={concurrencyLimit}
        waiting={queued}
        isBusy={update.isPending}
        error={update.error?.message}
        onSubmit={(limit) => update.mutate({ body: { concurrencyLimit: limit } })}
        reset={
          concurrencyLimit === null
            ? undefined
            : { label: 'No limit', onReset: () => update.mutate({ body: { concurrencyLimit: null } }) }
        }
      />
    </section>
  );
}
