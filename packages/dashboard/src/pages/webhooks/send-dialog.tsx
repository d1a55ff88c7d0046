import type { Webhook } from '@millrace/contract';
import { useState, type FormEvent } from 'react';
import { useAct } from '../../api/ask.ts';
import { toast } from '../../api/toasts.ts';
import { Button } from '../../parts/button.tsx';
import { Dialog } from '../../parts/dialog/dialog.tsx';
import { fieldError, TextArea, TextField } from '../../parts/form/field.tsx';
import { examplePayload } from './example-payload.ts';
import { readHeaders } from './read-headers.ts';
import { schemeOf } from './words.ts';

interface SendDialogProps {
  readonly webhook: Webhook;
  readonly onClose: () => void;
  readonly onSent: (deliveryId: string) => void;
}

/** Sends a test request, which the server signs as the provider would. */
export function SendDialog({ webhook, onClose, onSent }: SendDialogProps) {
  // Stable while the dialog is open: a repeated request is the same delivery.
  const [randomId] = useState(() => crypto.randomUUID());
  const [body, setBody] = useState(() => examplePayload(webhook.scheme, randomId));
  const [contentType, setContentType] = useState('application/json');
  const [headers, setHeaders] = useState('');
  const [wrong, setWrong] = useState<string>();
  const send = useAct('sendWebhook', {
    showsErrors: true,
    invalidates: ['listWebhooks', 'listWebhookDeliveries', 'listRuns', 'countRuns'],
    onDone: ({ id, isDuplicate }) => {
      toast({
        title: isDuplicate
          ? 'A request with this id was received before. No run was started.'
          : 'Request accepted. 1 run started.',
      });
      onSent(id);
    },
  });

  const submit = (event: FormEvent): void => {
    event.preventDefault();
    const read = readHeaders(headers);
    setWrong('error' in read ? read.error : undefined);
    if ('error' in read) return;
    send.mutate({
      params: { webhookId: webhook.id },
      body: { body, contentType, headers: read.headers, id: randomId },
    });
  };

  return (
    <Dialog isOpen onClose={onClose} title="Send a test request" isWide>
      <form className="stack" onSubmit={submit}>
        <p className="muted">
          {webhook.scheme === 'none'
            ? 'The request is stored and starts a run, like one of the provider.'
            : `The server signs it (${schemeOf(webhook)}), then verifies and stores it like a request of the provider.`}
        </p>
        <TextArea
          label="Body"
          code
          rows={10}
          value={body}
          error={fieldError(send.error, 'body')}
          onChange={(event) => setBody(event.target.value)}
        />
        <TextField
          label="Content type"
          spellCheck={false}
          required
          value={contentType}
          error={fieldError(send.error, 'contentType')}
          onChange={(event) => setContentType(event.target.value)}
        />
        <TextArea
          label="Additional headers"
          hint="One a line, such as X-GitHub-Event: push."
          code
          rows={2}
          value={headers}
          error={wrong ?? fieldError(send.error, 'headers')}
          onChange={(event) => setHeaders(event.target.value)}
        />
        {send.error && (
          <p className="field-error" role="alert">
            {send.error.message}
          </p>
        )}
        <div className="form-actions">
          <Button onClick={onClose}>Cancel</Button>
          <Button type="submit" variant="main" isBusy={send.isPending}>
            Send the request
          </Button>
        </div>
      </form>
    </Dialog>
  );
}
