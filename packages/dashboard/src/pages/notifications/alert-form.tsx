import type { Alert, AlertKind } from '@millrace/contract';
import { useState, type FormEvent } from 'react';
import { useAct, useAsk } from '../../api/ask.ts';
import { useEnvironmentPath } from '../../api/environment.ts';
import { Button } from '../../parts/button.tsx';
import { CheckField, fieldError, SelectField, TextField } from '../../parts/form/field.tsx';
import { FormError } from '../../parts/form/form-error.tsx';
import { recipientOf } from './endpoint-words.ts';
import { alertKinds, alertWords } from './types.ts';

interface AlertFormProps {
  /** The alert to change; without it, a new one is added. */
  readonly alert?: Alert;
  readonly onClose: () => void;
}

const outdated = ['listAlerts', 'retrieveAlert'] as const;

export function AlertForm({ alert, onClose }: AlertFormProps) {
  const params = useEnvironmentPath();
  const [kind, setKind] = useState<AlertKind>(alert?.kind ?? 'error.new');
  const words = alertWords[kind];
  const [name, setName] = useState(alert?.name ?? '');
  const [of, setOf] = useState(alert?.task ?? alert?.queue ?? '');
  const [owners, setOwners] = useState(alert?.owners?.join(', ') ?? '');
  const [threshold, setThreshold] = useState(String(alert?.threshold ?? words.threshold));
  const [window, setWindow] = useState(alert?.window ?? words.window);
  const [minRuns, setMinRuns] = useState(String(alert?.minRuns ?? 20));
  const [quiet, setQuiet] = useState(alert?.quiet ?? '30m');
  const [endpoints, setEndpoints] = useState<readonly string[]>(alert?.endpoints ?? []);
  const [notifiesAll, setNotifiesAll] = useState((alert?.endpoints ?? null) === null);
  const known = useAsk('listNotificationEndpoints', { params });
  const options = { invalidates: outdated, showsErrors: true, onDone: onClose } as const;
  const create = useAct('createAlert', { ...options, done: 'Alert added' });
  const update = useAct('updateAlert', { ...options, done: 'Alert changed' });
  const error = create.error ?? update.error;

  const submit = (event: FormEvent): void => {
    event.preventDefault();
    const text = name.trim();
    const subject = of.trim();
    const names = owners.split(/[\s,]+/).filter((each) => each !== '');
    const settings = {
      threshold: Number(threshold),
      window: window.trim(),
      quiet: quiet.trim(),
      ...(kind === 'task.failureRate' && { minRuns: Number(minRuns) }),
    };
    const chosen = notifiesAll ? null : [...endpoints];
    if (alert) {
      const body = {
        ...settings,
        name: text === '' ? null : text,
        endpoints: chosen,
        ...(words.of && { [words.of]: subject === '' ? null : subject }),
        ...(words.of === 'task' && { owners: names.length === 0 ? null : names }),
      };
      update.mutate({ params: { ...params, alertId: alert.id }, body });
      return;
    }
    const body = {
      kind,
      ...settings,
      ...(text !== '' && { name: text }),
      ...(chosen && { endpoints: chosen }),
      ...(words.of && subject !== '' && { [words.of]: subject }),
      ...(words.of === 'task' && names.length > 0 && { owners: names }),
    };
    create.mutate({ params, body });
  };
  const paths = ['threshold', 'window', 'quiet', 'minRuns', 'name', 'task', 'queue'];
  return (
    <form className="stack" onSubmit={submit}>
      {!alert && (
        <SelectField
          label="When"
          value={kind}
          onChange={(event) => {
            const next = event.target.value as AlertKind;
            setKind(next);
            setOf('');
            setThreshold(String(alertWords[next].threshold));
            setWindow(alertWords[next].window);
          }}
          options={alertKinds.map((value) => ({ value, label: alertWords[value].label }))}
        />
      )}
      {words.of && (
        <TextField
          label={words.of === 'task' ? 'Only this task' : 'Only this queue'}
          hint={
            words.of === 'task'
              ? 'Leave empty for all tasks.'
              : 'Leave empty for all queues. task/<id> is the default queue of a task.'
          }
          value={of}
          error={fieldError(error, words.of)}
          onChange={(event) => setOf(event.target.value)}
        />
      )}
      {words.of === 'task' && (
        <TextField
          label="Only these owners"
          hint="Such as @payments, ana@example.com. Leave empty for all owners."
          value={owners}
          error={fieldError(error, 'owners')}
          onChange={(event) => setOwners(event.target.value)}
        />
      )}
      <div className="notification-columns">
        <TextField
          label="Threshold"
          inputMode="decimal"
          hint={words.unit}
          required
          value={threshold}
          error={fieldError(error, 'threshold')}
          onChange={(event) => setThreshold(event.target.value)}
        />
        <TextField
          label="Window"
          hint={words.windowHint}
          required
          value={window}
          error={fieldError(error, 'window')}
          onChange={(event) => setWindow(event.target.value)}
        />
      </div>
      {kind === 'task.failureRate' && (
        <TextField
          label="Minimum runs"
          inputMode="numeric"
          hint="The alert does not fire if fewer runs ended."
          value={minRuns}
          error={fieldError(error, 'minRuns')}
          onChange={(event) => setMinRuns(event.target.value)}
        />
      )}
      <TextField
        label="Quiet time"
        hint="Minimum time between two messages of this alert."
        required
        value={quiet}
        error={fieldError(error, 'quiet')}
        onChange={(event) => setQuiet(event.target.value)}
      />
      <fieldset className="notification-types">
        <legend className="field-label">Endpoints</legend>
        <CheckField
          label="Every endpoint that accepts alerts"
          checked={notifiesAll}
          onChange={(event) => setNotifiesAll(event.target.checked)}
        />
        {!notifiesAll &&
          known.data?.data.map((endpoint) => (
            <CheckField
              key={endpoint.id}
              label={recipientOf(endpoint)}
              checked={endpoints.includes(endpoint.id)}
              onChange={(event) =>
                setEndpoints(
                  event.target.checked
                    ? [...endpoints, endpoint.id]
                    : endpoints.filter((id) => id !== endpoint.id),
                )
              }
            />
          ))}
      </fieldset>
      <TextField
        label="Name"
        hint="Shown in its messages. Optional."
        maxLength={128}
        value={name}
        error={fieldError(error, 'name')}
        onChange={(event) => setName(event.target.value)}
      />
      {known.data?.data.length === 0 && (
        <p className="notice tone-warn">
          <span>No endpoints yet: the alert can fire, but sends no messages.</span>
        </p>
      )}
      <FormError error={error} fields={paths} />
      <div className="form-actions">
        <Button onClick={onClose}>{alert ? 'Cancel' : 'Cancel'}</Button>
        <Button
          type="submit"
          variant="main"
          isBusy={create.isPending || update.isPending}
          disabled={!notifiesAll && endpoints.length === 0}
        >
          {alert ? 'Change the alert' : 'Add the alert'}
        </Button>
      </div>
    </form>
  );
}
