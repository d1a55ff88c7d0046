import { Button, IconButton } from '../../parts/button.tsx';
import { SelectField, TextField } from '../../parts/form/field.tsx';
import type { FieldKind, FormField } from './fields.ts';

interface FieldListProps {
  readonly fields: readonly FormField[];
  /** The names of fields whose name and kind cannot be changed. */
  readonly knownNames: ReadonlySet<string>;
  /** By index of their field. */
  readonly errors: ReadonlyMap<number, string>;
  readonly onChange: (fields: readonly FormField[]) => void;
  /** Called before a field is removed: those after it move. */
  readonly onRemove: () => void;
}

const kinds: readonly { readonly value: FieldKind; readonly label: string }[] = [
  { value: 'text', label: 'Text' },
  { value: 'number', label: 'Number' },
  { value: 'flag', label: 'Yes or no' },
];

/** The fields of an object without a schema. */
export function FieldList({ fields, knownNames, errors, onChange, onRemove }: FieldListProps) {
  const change = (index: number, part: Partial<FormField>): void =>
    onChange(fields.map((field, position) => (position === index ? { ...field, ...part } : field)));
  return (
    <>
      <div className="stack">
        {fields.map((field, index) => (
          // oxlint-disable-next-line react/no-array-index-key -- fields have no identity but their place
          <div key={index} className="complete-field">
            {knownNames.has(field.name) ? (
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
                onRemove();
                onChange(fields.filter((_, position) => position !== index));
              }}
            />
          </div>
        ))}
      </div>
      <div>
        <Button
          icon="plus"
          variant="plain"
          onClick={() => onChange([...fields, { name: '', kind: 'text', text: '' }])}
        >
          Add a field
        </Button>
      </div>
    </>
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
