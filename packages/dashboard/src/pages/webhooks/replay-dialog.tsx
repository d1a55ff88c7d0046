import type { WebhookDelivery } from '@millrace/contract';
import { useState } from 'react';
import { useAct, useAsk } from '../../api/ask.ts';
import { toast } from '../../api/toasts.ts';
import { Button } from '../../parts/button.tsx';
import { Dialog } from '../../parts/dialog/dialog.tsx';
import { SelectField } from '../../parts/form/field.tsx';

interface ReplayDialogProps {
  readonly delivery: WebhookDelivery;
  readonly isOpen: boolean;
  readonly onClose: () => void;
  readonly onStarted: (run: string) => void;
}

/** Starts another run with the request, on the current version or on another one. */
export const ReplayDialog = ({ isOpen, onClose, ...form }: ReplayDialogProps) => (
  <Dialog isOpen={isOpen} onClose={onClose} title="Replay the delivery">
    <ReplayForm onClose={onClose} {...form} />
  </Dialog>
);

function ReplayForm({ delivery, onClose, onStarted }: Omit<ReplayDialogProps, 'isOpen'>) {
  const [version, setVersion] = useState('');
  const deployments = useAsk('listDeployments', { query: { 'page[size]': 20 } });
  const versions = (deployments.data?.data ?? []).filter(({ status }) => status === 'DEPLOYED');
  const replay = useAct('replayWebhookDelivery', {
    showsErrors: true,
    invalidates: ['retrieveWebhookDelivery', 'listWebhookDeliveries', 'listRuns', 'countRuns'],
    onDone: ({ run }) => {
      toast({ title: 'Replayed. 1 run started.' });
      onStarted(run);
    },
  });
  return (
    <form
      className="stack"
      onSubmit={(event) => {
        event.preventDefault();
        replay.mutate({
          params: { webhookDeliveryId: delivery.id },
          body: version === '' ? {} : { version },
        });
      }}
    >
      <SelectField
        label="Version"
        value={version}
        onChange={(event) => setVersion(event.target.value)}
        options={[
          { value: '', label: 'the current one' },
          ...versions.map(({ version: name, state }) => ({ value: name, label: `${name}, ${state}` })),
        ]}
      />
      {replay.error && (
        <p className="field-error" role="alert">
          {replay.error.message}
        </p>
      )}
      <div className="form-actions">
        <Button onClick={onClose}>Cancel</Button>
        <Button type="submit" variant="main" icon="replay" isBusy={replay.isPending}>
          Start a run
        </Button>
      </div>
    </form>
  );
}
