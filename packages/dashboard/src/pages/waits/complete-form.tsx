import { useState } from 'react';
import { useAsk } from '../../api/ask.ts';
import { Skeleton } from '../../parts/failure.tsx';
import { mismatches } from '../../parts/schema/mismatches.ts';
import { blankOf, isObject, kindOf, resolved, type Schema } from '../../parts/schema/schema.ts';
import { SchemaForm } from '../../parts/schema/schema-form.tsx';
import { Completion, type CompletionProps } from './completion.tsx';
import { FieldList } from './field-list.tsx';
import { blankFields, fieldsOf, objectOf, usualFields, type FormField } from './fields.ts';
import { parsedJson } from '../../parts/json/parsed-json.ts';

/** The form of the token's schema; without one, the fields with which the latest token of the same tag was completed. */
export function CompleteForm(props: CompletionProps) {
  const schema = props.token.details?.schema;
  return schema !== undefined && kindOf(resolved(schema, schema)) === 'object' ? (
    <FormOfSchema {...props} schema={schema} />
  ) : (
    <FormOfEarlier {...props} />
  );
}

function FormOfSchema({ schema, ...props }: CompletionProps & { readonly schema: Schema }) {
  const [value, setValue] = useState<unknown>(() => blankOf(schema, schema));
  const [problems, setProblems] = useState<readonly string[]>([]);
  return (
    <Completion
      {...props}
      form={{
        read: () => {
          const found = mismatches(schema, value, 'The value');
          setProblems(found);
          return found.length > 0 ? undefined : { value };
        },
        draft: () => value,
        load: (next) => {
          setProblems([]);
          if (isObject(next)) setValue(next);
        },
        fields: (
          <>
            <SchemaForm schema={schema} value={value} onChange={setValue} keepsEmpty />
            {problems.length > 0 && (
              <ul className="field-error" role="alert">
                {problems.map((problem) => (
                  <li key={problem}>{problem}</li>
                ))}
              </ul>
            )}
            <p className="muted small">
              The runs receive <code className="complete-value">{JSON.stringify(value)}</code>
            </p>
          </>
        ),
      }}
    />
  );
}

function FormOfEarlier(props: CompletionProps) {
  const [tag] = props.token.tags;
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
  const known = fieldsOf(parsedJson(model.data?.output));
  return known && known.length > 0 ? (
    <FormOfFields {...props} initial={blankFields(known)} origin={tag} />
  ) : (
    <FormOfFields {...props} initial={usualFields} origin={undefined} />
  );
}

function FormOfFields({
  initial,
  origin,
  ...props
}: CompletionProps & {
  readonly initial: readonly FormField[];
  /** The tag of the token with these fields. */
  readonly origin: string | undefined;
}) {
  const [fields, setFields] = useState(initial);
  const [errors, setErrors] = useState<ReadonlyMap<number, string>>(new Map());
  return (
    <Completion
      {...props}
      form={{
        read: () => {
          const result = objectOf(fields);
          setErrors('errors' in result ? result.errors : new Map());
          return 'value' in result ? result : undefined;
        },
        draft: () => {
          const result = objectOf(fields);
          return 'value' in result && Object.keys(result.value).length > 0 ? result.value : undefined;
        },
        load: (next) => {
          setErrors(new Map());
          const read = fieldsOf(next);
          if (read) setFields(read);
        },
        fields: (
          <>
            {origin !== undefined && (
              <p className="muted small">
                The fields of the latest completed token with the tag <span className="mono">{origin}</span>.
              </p>
            )}
            <FieldList
              fields={fields}
              knownNames={new Set(initial.map(({ name }) => name).filter(Boolean))}
              errors={errors}
              onChange={setFields}
              onRemove={() => setErrors(new Map())}
            />
          </>
        ),
      }}
    />
  );
}
