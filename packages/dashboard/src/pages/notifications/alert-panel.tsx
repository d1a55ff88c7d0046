import type { Alert } from '@millrace/contract';
import { useState } from 'react';
import { useAct, useAsk } from '../../api/ask.ts';
import { useEnvironmentPath } from '../../api/environment.ts';
import { toast } from '../../api/toasts.ts';
import { Button } from '../../parts/button.tsx';
import { Confirm } from '../../parts/dialog/confirm.tsx';
import { Dialog } from '../../parts/dialog/dialog.tsx';
import { Failure, Skeleton } from '../../parts/failure.tsx';
import { Id } from '../../parts/id.tsx';
import { Properties, Section } from '../../parts/page.tsx';
import { SidePanel } from '../../parts/panel/side-panel.tsx';
import { useSearchTexts } from '../../parts/search.ts';
import { Mark } from '../../parts/status/status.tsx';
import { Time } from '../../parts/time/time.tsx';
import { AlertForm } from './alert-form.tsx';
import { alertBadge } from './alert-badge.ts';
import { conditionText } from './condition-text.ts';
import { recipientOf } from './endpoint-words.ts';
import { alertWords } from './types.ts';
import '../../parts/plot/plot.css';

interface AlertPanelProps {
  readonly alert: Alert | undefined;
  readonly mayWrite: boolean;
}

/** One alert, and the subjects for which it is firing. */
export function AlertPanel({ alert, mayWrite }: AlertPanelProps) {
  const [, setSearch] = useSearchTexts();
  return (
    <SidePanel
      isOpen={alert !== undefined}
      onClose={() => setSearch({ panel: undefined })}
      title={alert ? (alert.name ?? alertWords[alert.kind].label) : ''}
    >
      {alert && (
        <div className="stack" key={alert.id}>
          {mayWrite && <Acts alert={alert} />}
          <p>{conditionText(alert)}.</p>
          <AlertProperties alert={alert} />
          <Section title="Firing for">
            <Subjects alertId={alert.id} />
          </Section>
        </div>
      )}
    </SidePanel>
  );
}

function AlertProperties({ alert }: { readonly alert: Alert }) {
  const params = useEnvironmentPath();
  const endpoints = useAsk('listNotificationEndpoints', { params });
  const nameOf = (id: string): string => {
    const found = endpoints.data?.data.find((endpoint) => endpoint.id === id);
    return found ? recipientOf(found) : id;
  };
  return (
    <Properties
      properties={[
        ['State', <Mark key="state" badge={alertBadge(alert)} />],
        alert.firingSince === null
          ? undefined
          : ['Firing since', <Time key="since" at={alert.firingSince} />],
        ['Last message', alert.lastSentAt === null ? 'none' : <Time key="last" at={alert.lastSentAt} />],
        ['Quiet time', alert.quiet],
        [
          'Notifies',
          alert.endpoints === null
            ? 'every endpoint that accepts alerts'
            : alert.endpoints.map(nameOf).join(', '),
        ],
        ['Id', <Id key="id" id={alert.id} short />],
        ['Created', <Time key="created" at={alert.createdAt} />],
      ]}
    />
  );
}

function Subjects({ alertId }: { readonly alertId: string }) {
  const params = { ...useEnvironmentPath(), alertId };
  const found = useAsk('retrieveAlert', { params }, { live: true, keepPrevious: false });
  if (found.error && !found.data) return <Failure error={found.error} onRetry={() => void found.refetch()} />;
  if (!found.data) return <Skeleton label="Loading the subjects" />;
  const { subjects, kind } = found.data;
  if (subjects.length === 0) return <p className="muted">Nothing.</p>;
  return (
    <table className="plain-table">
      <thead>
        <tr>
          <th scope="col">What</th>
          <th scope="col">Since</th>
          <th scope="col" className="number" title={alertWords[kind].unit}>
            Value
          </th>
          <th scope="col">Notified</th>
        </tr>
      </thead>
      <tbody>
        {subjects.map(({ subject, since, value, notified }) => (
          <tr key={subject}>
            <td className="mono">{subject}</td>
            <td>
              <Time at={since} />
            </td>
            <td className="number">{value.toLocaleString('en', { maximumFractionDigits: 1 })}</td>
            <td>{notified ? 'yes' : 'not yet'}</td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

function Acts({ alert }: { readonly alert: Alert }) {
  const params = { ...useEnvironmentPath(), alertId: alert.id };
  const [, setSearch] = useSearchTexts();
  const [dialog, setDialog] = useState<'change' | 'delete'>();
  const close = (): void => setDialog(undefined);
  const update = useAct('updateAlert', {
    invalidates: ['listAlerts', 'retrieveAlert'],
    onDone: ({ enabled }) =>
      toast({
        title: enabled ? 'Alert switched on' : 'Alert switched off',
        undo: () => update.mutate({ params, body: { enabled: !enabled } }),
      }),
  });
  const remove = useAct('deleteAlert', {
    invalidates: ['listAlerts'],
    showsErrors: true,
    done: 'Alert deleted',
    onDone: () => setSearch({ panel: undefined }),
  });
  return (
    <div className="row wrap">
      <Button icon="pencil" onClick={() => setDialog('change')}>
        Change
      </Button>
      <Button
        isBusy={update.isPending}
        onClick={() => update.mutate({ params, body: { enabled: !alert.enabled } })}
      >
        {alert.enabled ? 'Switch off' : 'Switch on'}
      </Button>
      <Button icon="trash" variant="danger" onClick={() => setDialog('delete')}>
        Delete
      </Button>
      <Dialog isOpen={dialog === 'change'} onClose={close} title="Change the alert">
        <AlertForm alert={alert} onClose={close} />
      </Dialog>
      <Confirm
        isOpen={dialog === 'delete'}
        onClose={() => {
          remove.reset();
          close();
        }}
        title={`Delete the alert ${alert.name ?? alertWords[alert.kind].label}?`}
        action="Delete the alert"
        isBusy={remove.isPending}
        error={remove.error?.message}
        onConfirm={() => remove.mutate({ params })}
      >
        {conditionText(alert)}: no messages are sent for this any longer.
      </Confirm>
    </div>
  );
}
