import type { WaitpointToken } from '@millrace/contract';
import { useState, type FormEvent, type ReactNode } from 'react';
import { useAct } from '../../api/ask.ts';
import { Button } from '../../parts/button.tsx';
import { TextArea } from '../../parts/form/field.tsx';
import { useSearchTexts } from '../../parts/search.ts';
import { Segments } from '../../parts/segments.tsx';
import { parsedJson } from '../../parts/json/parsed-json.ts';

export interface CompletionProps {
  readonly token: WaitpointToken;
  /** Called with the data of the completion as JSON text: another user may have completed it first. */
  readonly onSent: (data: string) => void;
}

/** The fields of a completion, and their value. */
export interface FieldsOfValue {
  readonly fields: ReactNode;
  /** The entered value; undefined if fields are rejected, which then show the reason. */
  readonly read: () => { readonly value: unknown } | undefined;
  /** The value entered so far; undefined if there is none. */
  readonly draft: () => unknown;
  /** Shows a value that was entered as JSON, if the fields can. */
  readonly load: (value: unknown) => void;
}

const ways = [
  { value: 'form', label: 'Form' },
  { value: 'json', label: 'JSON' },
] as const;

const jsonOf = (value: unknown): string => JSON.stringify(value, undefined, 2);

/** The completion of a token, with fields or as JSON. */
export function Completion({ token, onSent, form }: CompletionProps & { readonly form: FieldsOfValue }) {
  const [{ as }, setSearch] = useSearchTexts();
  const isJson = as === 'json';
  const [json, setJson] = useState('{\n  "approved": true\n}');
  const [jsonError, setJsonError] = useState<string>();
  const complete = useAct('completeWaitpointToken', {
    showsErrors: true,
    invalidates: ['listWaitpointTokens', 'retrieveWaitpointToken', 'listRuns', 'retrieveRun'],
  });

  const switchTo = (way: 'form' | 'json'): void => {
    setJsonError(undefined);
    if (way === 'json') {
      const draft = form.draft();
      if (draft !== undefined) setJson(jsonOf(draft));
    } else form.load(parsedJson(json));
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
    if (!isJson) {
      const result = form.read();
      if (result) send(result.value);
    } else if (json.trim() === '') send(undefined);
    else {
      try {
        const data: unknown = JSON.parse(json);
        setJsonError(undefined);
        send(data);
      } catch (error) {
        setJsonError(`This is not JSON: ${error instanceof Error ? error.message : 'it ends too early'}`);
      }
    }
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
        form.fields
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
