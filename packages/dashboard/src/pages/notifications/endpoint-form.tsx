import type { EndpointKind, NotificationEndpoint, NotificationType, SmtpSecurity } from '@millrace/contract';
import { useState, type FormEvent } from 'react';
import { useAct } from '../../api/ask.ts';
import { useEnvironmentPath } from '../../api/environment.ts';
import type { InputOf } from '../../api/operation-types.ts';
import { Button } from '../../parts/button.tsx';
import { fieldError, SelectField, TextField } from '../../parts/form/field.tsx';
import { FormError } from '../../parts/form/form-error.tsx';
import { MailFields, type MailSettings } from './mail-fields.tsx';
import { TypeChoice } from './type-choice.tsx';
import { messageTypes, typeWords } from './types.ts';

interface EndpointFormProps {
  /** The endpoint to change; without it, a new one is added. */
  readonly endpoint?: NotificationEndpoint;
  readonly onClose: () => void;
  readonly onDone: (created: { readonly secret?: string | undefined }) => void;
}

const kinds = [
  { value: 'webhook', label: 'Webhook: signed requests to a URL' },
  { value: 'slack', label: 'Chat: messages in Slack’s format' },
  { value: 'email', label: 'Mail, by SMTP' },
] as const satisfies readonly { readonly value: EndpointKind; readonly label: string }[];

const outdated = ['listNotificationEndpoints', 'retrieveNotificationEndpoint'] as const;

/** Adds or changes an endpoint. Its secrets (a chat's address, a password) stay unchanged unless they are entered again. */
export function EndpointForm({ endpoint, onClose, onDone }: EndpointFormProps) {
  const params = useEnvironmentPath();
  const [kind, setKind] = useState<EndpointKind>(endpoint?.kind ?? 'webhook');
  const [url, setUrl] = useState(endpoint?.kind === 'webhook' ? endpoint.url : '');
  const [mail, setMail] = useState<MailSettings>(mailOf(endpoint));
  const [description, setDescription] = useState(endpoint?.description ?? '');
  const offered: readonly NotificationType[] =
    kind === 'webhook' ? (Object.keys(typeWords) as NotificationType[]) : messageTypes;
  const [types, setTypes] = useState<readonly string[]>(
    endpoint?.types ?? ['alert.*', 'endpoint.disabled', 'error.new'],
  );
  const chosen = offered.filter((type) =>
    types.some(
      (chosenType) =>
        chosenType === '*' ||
        chosenType === type ||
        (chosenType.endsWith('.*') && type.startsWith(chosenType.slice(0, -1))),
    ),
  );
  const create = useAct('createNotificationEndpoint', { invalidates: outdated, showsErrors: true, onDone });
  const update = useAct('updateNotificationEndpoint', {
    invalidates: outdated,
    showsErrors: true,
    done: 'Endpoint changed',
    onDone: () => onDone({}),
  });
  const error = create.error ?? update.error;

  const submit = (event: FormEvent): void => {
    event.preventDefault();
    const about = description.trim();
    const { smtp, from, to } = sentMail(mail);
    if (endpoint) {
      update.mutate({
        params: { ...params, endpointId: endpoint.id },
        body: {
          // Unchanged, including `error.*`, unless a checkbox was changed.
          types: [...types],
          description: about === '' ? null : about,
          ...(kind === 'email'
            ? { smtp, from, to }
            : url.trim() !== '' && url !== endpoint.url && { url: url.trim() }),
        },
      });
      return;
    }
    const common = { types: chosen, ...(about !== '' && { description: about }) };
    const body =
      kind === 'email' ? { kind, smtp, from, to, ...common } : { kind, url: url.trim(), ...common };
    create.mutate({ params, body: body as InputOf<'createNotificationEndpoint'>['body'] });
  };

  return (
    <form className="stack" onSubmit={submit}>
      {!endpoint && (
        <SelectField
          label="Kind"
          value={kind}
          onChange={(event) => setKind(event.target.value as EndpointKind)}
          options={kinds}
        />
      )}
      {kind === 'email' ? (
        <MailFields
          settings={mail}
          onChange={setMail}
          isKnown={endpoint !== undefined}
          error={fieldError(error, 'from') ?? fieldError(error, 'to')}
        />
      ) : (
        <TextField
          label="Address"
          type="url"
          inputMode="url"
          required={!endpoint}
          placeholder={
            kind === 'slack' ? 'https://hooks.slack.com/services/…' : 'https://example.com/hooks/millrace'
          }
          hint={
            kind === 'slack'
              ? `An incoming webhook of Slack, Mattermost, Rocket.Chat or Discord. It is a secret and is never shown.${endpoint ? ' Leave empty to keep it.' : ''}`
              : 'Receives POST requests with JSON, signed with a secret that is shown once.'
          }
          value={url}
          error={fieldError(error, 'url')}
          onChange={(event) => setUrl(event.target.value)}
        />
      )}
      <TypeChoice types={offered} chosen={chosen} onChange={setTypes} error={fieldError(error, 'types')} />
      <TextField
        label="Description"
        hint="Optional."
        maxLength={1_000}
        value={description}
        error={fieldError(error, 'description')}
        onChange={(event) => setDescription(event.target.value)}
      />
      <FormError error={error} fields={['url', 'types', 'description', 'from', 'to']} />
      <div className="form-actions">
        <Button onClick={onClose}>{endpoint ? 'Cancel' : 'Cancel'}</Button>
        <Button
          type="submit"
          variant="main"
          isBusy={create.isPending || update.isPending}
          disabled={chosen.length === 0}
        >
          {endpoint ? 'Change the endpoint' : 'Add the endpoint'}
        </Button>
      </div>
    </form>
  );
}

const mailOf = (endpoint: NotificationEndpoint | undefined): MailSettings => ({
  host: endpoint?.mail?.smtp.host ?? '',
  port: String(endpoint?.mail?.smtp.port ?? 465),
  security: endpoint?.mail?.smtp.security ?? 'tls',
  user: endpoint?.mail?.smtp.user ?? '',
  password: '',
  from: endpoint?.mail?.from ?? '',
  to: endpoint?.mail?.to.join(', ') ?? '',
});

interface SentMail {
  readonly smtp: {
    host: string;
    port: number;
    security: SmtpSecurity;
    user?: string;
    password?: string;
  };
  readonly from: string;
  readonly to: string[];
}

const sentMail = ({ host, port, security, user, password, from, to }: MailSettings): SentMail => ({
  smtp: {
    host: host.trim(),
    port: Number(port),
    security,
    ...(user.trim() !== '' && { user: user.trim() }),
    ...(password !== '' && { password }),
  },
  from: from.trim(),
  to: to.split(/[\s,;]+/).filter((address) => address !== ''),
});
