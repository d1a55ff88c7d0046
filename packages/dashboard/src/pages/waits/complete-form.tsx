import type { WaitpointToken } from '@millrace/contract';
import { useState, type FormEvent } from 'react';
import { useAct, useAsk } from '../../api/ask.ts';
import { Button, IconButton } from '../../parts/button.tsx';
import { Skeleton } from '../../parts/failure.tsx';
import { SelectField, TextArea, TextField } from '../../parts/form/field.tsx';
import { useSearchTexts } from '../../parts/search.ts';
import { Segments } from '../../parts/segments.tsx';
import { blankFields, fieldsOf, objectOf, usualFields, type FieldKind, type FormField } from './fields.ts';

interface CompleteFormProps {
  readonly token: WaitpointToken;
  /** Called with the data of the completion as JSON text: another user may have completed it first. */
  readonly onSent: (data: string) => void;
}

/** Tokens have no schema: the form has the fields with which the latest token of the same tag was completed. */
export function CompleteForm({ token, onSent }: CompleteFormProps) {
  const [tag] = token.tags;
  const before = useAsk(
    'listWaitpointTokens',
    { query: { 'filter[status]': 'COMPLETED', 'filter[tags]': tag, 'page[size]': 1 } },
    { enabled: tag !== undefined && !tag.includes(',') },
  );
  const last = before.data?.data[0]?.id;
  const model = useAsk(
    'retrieveWaitpointToken',
    { params: { waitpointId: last ?? '' } },
    { enabled: last !== undefined },
  );
  const isReady = !before.isLoading && !model.isLoading;
  if (!isReady) return <Skeleton lines={5} label="Loading the form" />;
  const known = fieldsOf(parsed(model.data?.output));
  return (
    <Loaded
      token={token}
      onSent={onSent}
      initial={known && known.length > 0 ? blankFields(known) : usualFields}
      origin={known && known.length > 0 ? tag : undefined}
    />
  );
}

function parsed(text: string | undefined): unknown {
  if (text === undefined) return undefined;
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}

const ways = [
  { value: 'form', label: 'Form' },
  { value: 'json', label: 'JSON' },
] as const;

const kinds: readonly { readonly value: FieldKind; readonly label: string }[] = [
  { value: 'text', label: 'Text' },
  { value: 'number', label: 'Number' },
  { value: 'flag', label: 'Yes or no' },
];

const jsonOf = (value: unknown): string => JSON.stringify(value, undefined, 2);

function Loaded({
  token,
  onSent,
  initial,
  origin,
}: CompleteFormProps & { readonly initial: readonly FormField[]; readonly origin: string | undefined }) {
  const [{ as }, setSearch] = useSearchTexts();
  const isJson = as === 'json';
  const [fields, setFields] = useState(initial);
  const [json, setJson] = useState('{\n  "approved": true\n}');
  const [errors, setErrors] = useState<ReadonlyMap<number, string>>(new Map());
  const [jsonError, setJsonError] = useState<string>();
  const complete = useAct('completeWaitpointToken', {
    showsErrors: true,
    invalidates: ['listWaitpointTokens', 'retrieveWaitpointToken', 'listRuns', 'retrieveRun'],
  });

  const change = (index: number, part: Partial<FormField>): void =>
    setFields((before) =>
      before.map((field, position) => (position === index ? { ...field, ...part } : field)),
    );

  const switchTo = (way: 'form' | 'json'): void => {
    setErrors(new Map());
    setJsonError(undefined);
    if (way === 'json') {
      const result = objectOf(fields);
      if ('value' in result && Object.keys(result.value).length > 0) setJson(jsonOf(result.value));
    } else {
      const read = fieldsOf(parsed(json));
      if (read) setFields(read);
    }
    setSearch({ as: way === 'json' ? 'json' : undefined });
  };

  const send = (data: unknown): void => {
    // An empty text means no value: the runs get undefined.
    const body = data === undefined ? {} : { data };
    onSent(JSON.stringify(data) ?? '');
    complete.mutate({ params: { waitpointId: token.id }, body });
  };

  const submit = (event: FormEvent): void => {
    event.preventDefault();
    if (isJson) {
      if (json.trim() === '') return send(undefined);
      try {
        const data: unknown = JSON.parse(json);
        setJsonError(undefined);
        send(data);
      } catch (error) {
        setJsonError(`This is not JSON: ${error instanceof Error ? error.message : 'it ends too early'}`);
      }
      return;
    }
    const result = objectOf(fields);
    setErrors('errors' in result ? result.errors : new Map());
    if ('value' in result) send(result.value);
  };

  return (
    <form className="card complete-form" onSubmit={submit} aria-label="Complete the token">
      <div className="row spread wrap">
        <h2>Complete the token</h2>
        <Segments label="Format" options={ways} value={isJson ? 'json' : 'form'} onChange={switchTo} />
      </div>
      {isJson ? (
        <TextArea
          label="Value"
          hint="JSON, returned by wait.forToken in the runs. Leave empty for no value."
          code
          rows={10}
          value={json}
          error={jsonError}
          onChange={(event) => setJson(event.target.value)}
        />
      ) : (
        <>
          {origin !== undefined && (
            <p className="muted small">
              The fields of the latest completed token with the tag <span className="mono">{origin}</span>.
            </p>
          )}
          <div className="stack">
            {fields.map((field, index) => (
              // oxlint-disable-next-line react/no-array-index-key -- fields have no identity but their place
              <div key={index} className="complete-field">
                {initial.some(({ name }) => name === field.name && name !== '') ? (
                  <ValueField
                    field={field}
                    label={field.name}
                    error={errors.get(index)}
                    onChange={(text) => change(index, { text })}
                  />
                ) : (
                  <>
                    <TextField
                      label="Name"
                      spellCheck={false}
                      value={field.name}
                      onChange={(event) => change(index, { name: event.target.value })}
                    />
                    <SelectField
                      label="Kind"
                      options={kinds}
                      value={field.kind}
                      onChange={(event) => change(index, { kind: event.target.value as FieldKind, text: '' })}
                    />
                    <ValueField
                      field={field}
                      label="Value"
                      error={errors.get(index)}
                      onChange={(text) => change(index, { text })}
                    />
                  </>
                )}
                <IconButton
                  icon="trash"
                  label={`Remove ${field.name || 'the field'}`}
                  onClick={() => {
                    setErrors(new Map());
                    setFields((before) => before.filter((_, position) => position !== index));
                  }}
                />
              </div>
            ))}
          </div>
          <div>
            <Button
              icon="plus"
              variant="plain"
              onClick={() => setFields((before) => [...before, { name: '', kind: 'text', text: '' }])}
            >
              Add a field
            </Button>
          </div>
        </>
      )}
      {complete.error && (
        <p className="field-error" role="alert">
          {complete.error.message}
        </p>
      )}
      <div className="row spread wrap">
        <span className="muted small">A token can be completed once. This cannot be undone.</span>
        <Button type="submit" variant="main" icon="check" isBusy={complete.isPending}>
          Complete the token
        </Button>
      </div>
    </form>
  );
}

interface ValueFieldProps {
  readonly field: FormField;
  readonly label: string;
  readonly error: string | undefined;
  readonly onChange: (text: string) => void;
}

const flags = [
  { value: '', label: 'Choose' },
  { value: 'true', label: 'Yes' },
  { value: 'false', label: 'No' },
];

const ValueField = ({ field: { kind, text }, label, error, onChange }: ValueFieldProps) =>
  kind === 'flag' ? (
    <SelectField
      label={label}
      options={flags}
      value={text}
      error={error}
      onChange={(event) => onChange(event.target.value)}
    />
  ) : (
    <TextField
      label={label}
      value={text}
      error={error}
      inputMode={kind === 'number' ? 'decimal' : 'text'}
      onChange={(event) => onChange(event.target.value)}
    />
  );
