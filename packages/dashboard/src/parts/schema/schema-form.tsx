import type { ReactNode } from 'react';
import { Button, IconButton } from '../button.tsx';
import { SelectField, TextArea, TextField } from '../form/field.tsx';
import { visibleControls } from '../json/visible-controls.ts';
import { JsonField, NumberField } from './leaf-fields.tsx';
import {
  allowsEmptyText,
  exampleOf,
  hintOf,
  isObject,
  kindOf,
  propertiesOf,
  requiredOf,
  resolved,
  valuesOf,
  type Schema,
} from './schema.ts';
import './schema.css';

interface SchemaFormProps {
  readonly schema: Schema;
  readonly value: unknown;
  readonly onChange: (value: unknown) => void;
  /** An optional text without characters is a value, instead of not being set. */
  readonly keepsEmpty?: boolean;
}

/** A form for the schema. It edits the same value as the JSON. */
export const SchemaForm = ({ schema, value, onChange, keepsEmpty = false }: SchemaFormProps) => (
  <SchemaField
    root={schema}
    rawSchema={schema}
    keepsEmpty={keepsEmpty}
    name="Payload"
    value={value}
    onChange={onChange}
    isRequired
    depth={0}
  />
);

interface SchemaFieldProps {
  readonly root: Schema;
  readonly rawSchema: unknown;
  readonly name: string;
  readonly value: unknown;
  /** Undefined means not set. */
  readonly onChange: (value: unknown) => void;
  readonly isRequired: boolean;
  readonly keepsEmpty: boolean;
  readonly depth: number;
}

/** Deeper values are edited as JSON. */
const maxDepth = 5;

function SchemaField({
  root,
  rawSchema,
  name,
  value,
  onChange,
  isRequired,
  keepsEmpty,
  depth,
}: SchemaFieldProps): ReactNode {
  const schema = resolved(rawSchema, root);
  const kind = depth > maxDepth ? 'any' : kindOf(schema);
  const label = isRequired ? visibleControls(name) : `${visibleControls(name)} (optional)`;
  const words = hintOf(schema);
  const hint = words === undefined ? undefined : visibleControls(words);
  const isEmptyValue = isRequired || (keepsEmpty && allowsEmptyText(schema));
  switch (kind) {
    case 'object':
      return (
        <ObjectField
          root={root}
          schema={schema}
          label={label}
          isTop={depth === 0}
          value={value}
          onChange={onChange}
          isRequired={isRequired}
          keepsEmpty={keepsEmpty}
          depth={depth}
        />
      );
    case 'array':
      return (
        <ListField
          root={root}
          schema={schema}
          label={label}
          value={value}
          onChange={onChange}
          keepsEmpty={keepsEmpty}
          depth={depth}
        />
      );
    case 'enum':
    case 'boolean': {
      const values = kind === 'enum' ? valuesOf(schema) : [true, false];
      const texts = values.map((choice) => JSON.stringify(choice));
      return (
        <SelectField
          label={label}
          hint={hint}
          value={value === undefined ? '' : JSON.stringify(value)}
          onChange={(event) =>
            onChange(event.target.value === '' ? undefined : (JSON.parse(event.target.value) as unknown))
          }
          options={[
            { value: '', label: 'not set' },
            // Existing payload values are shown, even if the schema does not contain them.
            ...(value === undefined || texts.includes(JSON.stringify(value))
              ? texts
              : [JSON.stringify(value), ...texts]
            ).map((text) => ({ value: text, label: visibleControls(text.replaceAll(/^"|"$/g, '')) })),
          ]}
        />
      );
    }
    case 'number':
    case 'integer':
      return (
        <NumberField
          label={label}
          hint={hint}
          value={value}
          onChange={onChange}
          isWhole={kind === 'integer'}
        />
      );
    case 'string':
      if (value === undefined || typeof value === 'string')
        return typeof value === 'string' && value.includes('\n') ? (
          <TextArea
            label={label}
            hint={hint}
            value={value}
            onChange={(event) => onChange(event.target.value)}
          />
        ) : (
          <TextField
            label={label}
            hint={hint}
            value={value ?? ''}
            placeholder={placeholderOf(schema)}
            onChange={(event) =>
              onChange(event.target.value === '' && !isEmptyValue ? undefined : event.target.value)
            }
          />
        );
      return <JsonField label={label} hint={hint} value={value} onChange={onChange} />;
    default:
      return <JsonField label={label} hint={hint} value={value} onChange={onChange} />;
  }
}

const placeholders: Readonly<Record<string, string>> = {
  'date-time': '2026-11-23T10:00:00Z',
  date: '2026-11-23',
  email: 'ada@example.com',
  uri: 'https://example.com',
};

const placeholderOf = (schema: Schema): string | undefined => placeholders[String(schema['format'])];

interface ObjectFieldProps {
  readonly root: Schema;
  readonly schema: Schema;
  readonly label: string;
  readonly isTop: boolean;
  readonly value: unknown;
  readonly onChange: (value: unknown) => void;
  readonly isRequired: boolean;
  readonly keepsEmpty: boolean;
  readonly depth: number;
}

function ObjectField({
  root,
  schema,
  label,
  isTop,
  value,
  onChange,
  isRequired,
  keepsEmpty,
  depth,
}: ObjectFieldProps) {
  const now = isObject(value) ? value : {};
  const required = requiredOf(schema);
  const properties = propertiesOf(schema);
  const known = new Set(properties.map(([name]) => name));
  const others = Object.keys(now).filter((name) => !known.has(name));
  if (!isRequired && value === undefined)
    return (
      <div className="field">
        <span className="field-label">{label}</span>
        <Button icon="plus" onClick={() => onChange(exampleOf(schema, root))}>
          Add {label.replace(' (optional)', '')}
        </Button>
      </div>
    );
  const fields = properties.map(([name, property]) => (
    <SchemaField
      key={name}
      root={root}
      rawSchema={property}
      name={name}
      value={now[name]}
      isRequired={required.has(name)}
      keepsEmpty={keepsEmpty}
      depth={depth + 1}
      onChange={(next) => {
        const { [name]: _, ...rest } = now;
        // In the order of the schema, regardless of the order of changes.
        const all: Record<string, unknown> = next === undefined ? rest : { ...rest, [name]: next };
        const order = [...known, ...others];
        onChange(Object.fromEntries(order.flatMap((key) => (key in all ? [[key, all[key]] as const] : []))));
      }}
    />
  ));
  const rest = others.length > 0 && (
    <p className="muted small">
      Not in the schema: {others.map(visibleControls).join(', ')}. Edit them as JSON.
    </p>
  );
  if (isTop)
    return (
      <div className="schema-form">
        {fields}
        {rest}
        {fields.length === 0 && <p className="muted">The schema has no properties: enter JSON.</p>}
      </div>
    );
  return (
    <fieldset className="schema-group">
      <legend className="row">
        <span className="field-label">{label}</span>
        {!isRequired && (
          <IconButton icon="trash" label={`Remove ${label}`} onClick={() => onChange(undefined)} />
        )}
      </legend>
      {fields}
      {rest}
    </fieldset>
  );
}

/** Further items are edited as JSON. */
const maxItems = 50;

function ListField({
  root,
  schema,
  label,
  value,
  onChange,
  keepsEmpty,
  depth,
}: Omit<ObjectFieldProps, 'isTop' | 'isRequired'>) {
  const items: readonly unknown[] = Array.isArray(value) ? value : [];
  if (items.length > maxItems || (value !== undefined && !Array.isArray(value)))
    return <JsonField label={label} hint={undefined} value={value} onChange={onChange} />;
  return (
    <fieldset className="schema-group">
      <legend className="field-label">{label}</legend>
      {items.map((item, index) => (
        // Items have no other identity.
        <div key={index} className="schema-item">
          <SchemaField
            root={root}
            rawSchema={schema['items']}
            name={`${index + 1}`}
            value={item}
            isRequired
            keepsEmpty={keepsEmpty}
            depth={depth + 1}
            onChange={(next) => onChange(items.with(index, next ?? null))}
          />
          <IconButton
            icon="trash"
            label={`Remove item ${index + 1}`}
            onClick={() => onChange(items.filter((_, at) => at !== index))}
          />
        </div>
      ))}
      <Button icon="plus" onClick={() => onChange([...items, exampleOf(schema['items'], root)])}>
        Add an item
      </Button>
    </fieldset>
  );
}
