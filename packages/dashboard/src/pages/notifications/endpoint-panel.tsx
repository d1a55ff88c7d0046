import type { NotificationEndpoint } from '@millrace/contract';
import { useState } from 'react';
import { useAct } from '../../api/ask.ts';
import { useEnvironmentPath } from '../../api/environment.ts';
import { toast } from '../../api/toasts.ts';
import { Button } from '../../parts/button.tsx';
import { Confirm } from '../../parts/dialog/confirm.tsx';
import { Dialog } from '../../parts/dialog/dialog.tsx';
import { Id } from '../../parts/id.tsx';
import { Properties } from '../../parts/page.tsx';
import { SidePanel } from '../../parts/panel/side-panel.tsx';
import { useSearchTexts } from '../../parts/search.ts';
import { Mark } from '../../parts/status/status.tsx';
import { Time } from '../../parts/time/time.tsx';
import { EndpointForm } from './endpoint-form.tsx';
import { endpointBadge, recipientOf } from './endpoint-words.ts';
import { kindWords } from './types.ts';

interface EndpointPanelProps {
  readonly endpoint: NotificationEndpoint | undefined;
  readonly mayWrite: boolean;
  /** Called when a new secret was created. */
  readonly onSecret: (secret: string) => void;
}

/** One endpoint: its state, and the available actions. */
export function EndpointPanel({ endpoint, mayWrite, onSecret }: EndpointPanelProps) {
  const [, setSearch] = useSearchTexts();
  return (
    <SidePanel
      isOpen={endpoint !== undefined}
      onClose={() => setSearch({ panel: undefined })}
      title={endpoint ? recipientOf(endpoint) : ''}
    >
      {endpoint && <Content key={endpoint.id} endpoint={endpoint} mayWrite={mayWrite} onSecret={onSecret} />}
    </SidePanel>
  );
}

function Content({
  endpoint,
  mayWrite,
  onSecret,
}: EndpointPanelProps & { readonly endpoint: NotificationEndpoint }) {
  const [, setSearch] = useSearchTexts();
  const toDeliveries = (): void =>
    setSearch({ tab: 'deliveries', endpoint: endpoint.id, panel: undefined }, { push: true });
  return (
    <div className="stack">
      {mayWrite && <Acts endpoint={endpoint} onSecret={onSecret} />}
      <Properties
        properties={[
          ['State', <Mark key="state" badge={endpointBadge(endpoint)} />],
          ['Kind', kindWords[endpoint.kind]],
          ['Id', <Id key="id" id={endpoint.id} short />],
          ['Created', <Time key="created" at={endpoint.createdAt} />],
          endpoint.failingSince === null
            ? undefined
            : ['Failing since', <Time key="failing" at={endpoint.failingSince} />],
          endpoint.disabledAt === null
            ? undefined
            : ['Off since', <Time key="off" at={endpoint.disabledAt} />],
          endpoint.description === null ? undefined : ['Description', endpoint.description],
          endpoint.mail === null
            ? ['Address', <Id key="url" id={endpoint.url} />]
            : [
                'Mail server',
                `${endpoint.mail.smtp.host}:${endpoint.mail.smtp.port}, ${endpoint.mail.smtp.security}`,
              ],
          endpoint.mail === null ? undefined : ['From', endpoint.mail.from],
        ]}
      />
      <div>
        <h3>Notification types</h3>
        <ul className="notification-list">
          {endpoint.types.map((type) => (
            <li key={type}>
              <code>{type}</code>
            </li>
          ))}
        </ul>
      </div>
      <div>
        <Button onClick={toDeliveries}>Show deliveries</Button>
      </div>
    </div>
  );
}

type OpenDialog = 'change' | 'delete' | 'rotate';

function Acts({
  endpoint,
  onSecret,
}: Pick<EndpointPanelProps, 'onSecret'> & { readonly endpoint: NotificationEndpoint }) {
  const params = { ...useEnvironmentPath(), endpointId: endpoint.id };
  const [, setSearch] = useSearchTexts();
  const [dialog, setDialog] = useState<OpenDialog>();
  const close = (): void => setDialog(undefined);
  const test = useAct('testNotificationEndpoint', {
    invalidates: ['listNotificationDeliveries'],
    onDone: ({ id }) =>
      toast({
        title: 'Test message queued',
        action: {
          label: 'See the delivery',
          onClick: () => setSearch({ tab: 'deliveries', panel: id }, { push: true }),
        },
      }),
  });
  const update = useAct('updateNotificationEndpoint', {
    invalidates: ['listNotificationEndpoints'],
    onDone: ({ enabled }) =>
      toast({
        title: enabled ? 'Endpoint switched on' : 'Endpoint switched off',
        undo: () => update.mutate({ params, body: { enabled: !enabled } }),
      }),
  });
  const rotate = useAct('rotateNotificationSecret', {
    invalidates: [],
    showsErrors: true,
    onDone: ({ secret }) => {
      close();
      onSecret(secret);
    },
  });
  const remove = useAct('deleteNotificationEndpoint', {
    invalidates: ['listNotificationEndpoints', 'listNotificationDeliveries'],
    showsErrors: true,
    done: 'Endpoint deleted',
    onDone: () => setSearch({ panel: undefined }),
  });
  return (
    <div className="row wrap">
      <Button isBusy={test.isPending} disabled={!endpoint.enabled} onClick={() => test.mutate({ params })}>
        Send a test
      </Button>
      <Button icon="pencil" onClick={() => setDialog('change')}>
        Change
      </Button>
      <Button
        isBusy={update.isPending}
        onClick={() => update.mutate({ params, body: { enabled: !endpoint.enabled } })}
      >
        {endpoint.enabled ? 'Switch off' : 'Switch on'}
      </Button>
      {endpoint.kind === 'webhook' && <Button onClick={() => setDialog('rotate')}>New secret</Button>}
      <Button icon="trash" variant="danger" onClick={() => setDialog('delete')}>
        Delete
      </Button>
      <Dialog isOpen={dialog === 'change'} onClose={close} title="Change the endpoint" isWide>
        <EndpointForm endpoint={endpoint} onClose={close} onDone={close} />
      </Dialog>
      <Confirm
        isOpen={dialog === 'rotate'}
        onClose={close}
        title="Replace the signing secret of the webhook?"
        action="Create a new secret"
        isBusy={rotate.isPending}
        error={rotate.error?.message}
        onConfirm={() => rotate.mutate({ params })}
      >
        For 24 hours, every request is signed with both secrets. Update the receiver within that time.
      </Confirm>
      <Confirm
        isOpen={dialog === 'delete'}
        onClose={() => {
          remove.reset();
          close();
        }}
        title={`Delete the endpoint ${recipientOf(endpoint)}?`}
        action="Delete the endpoint"
        isBusy={remove.isPending}
        error={remove.error?.message}
        onConfirm={() => remove.mutate({ params })}
      >
        Its deliveries are deleted, and pending ones are not sent. This cannot be undone. To pause it, switch
        it off instead.
      </Confirm>
    </div>
  );
}
