import { useId, type ComponentProps, type ReactNode } from 'react';
import { ApiError } from '../../api/api-error.ts';
import './form.css';

interface FieldProps {
  readonly label: string;
  /** The expected input, with an example. */
  readonly hint?: ReactNode;
  /** The problem, with the fix. */
  readonly error?: string | undefined;
}

interface Described {
  readonly id: string;
  readonly 'aria-describedby': string | undefined;
  readonly 'aria-invalid': boolean | undefined;
}

function Field({
  label,
  hint,
  error,
  children,
}: FieldProps & { readonly children: (described: Described) => ReactNode }) {
  const id = useId();
  const describes = [hint && `${id}-hint`, error && `${id}-error`].filter(Boolean).join(' ');
  return (
    <div className="field">
      <label className="field-label" htmlFor={id}>
        {label}
      </label>
      {children({ id, 'aria-describedby': describes || undefined, 'aria-invalid': error ? true : undefined })}
      {error && (
        <p className="field-error" id={`${id}-error`} role="alert">
          {error}
        </p>
      )}
      {hint && (
        <p className="field-hint" id={`${id}-hint`}>
          {hint}
        </p>
      )}
    </div>
  );
}

export const TextField = ({
  label,
  hint,
  error,
  className = '',
  ...input
}: FieldProps & ComponentProps<'input'>) => (
  <Field label={label} hint={hint} error={error}>
    {(described) => <input autoComplete="off" {...input} {...described} className={`input ${className}`} />}
  </Field>
);

/** Multiple lines. `code`: in the monospaced font, without spell checking. */
export const TextArea = ({
  label,
  hint,
  error,
  code = false,
  ...area
}: FieldProps & ComponentProps<'textarea'> & { readonly code?: boolean }) => (
  <Field label={label} hint={hint} error={error}>
    {(described) => (
      <textarea
        {...area}
        {...described}
        className={`input ${code ? 'code' : ''}`}
        spellCheck={code ? false : undefined}
        autoCapitalize={code ? 'off' : undefined}
      />
    )}
  </Field>
);

interface Option {
  readonly value: string;
  readonly label: string;
}

/** The browser's own list: it supports keyboards and phones, and needs no code. */
export const SelectField = ({
  label,
  hint,
  error,
  options,
  ...select
}: FieldProps & ComponentProps<'select'> & { readonly options: readonly Option[] }) => (
  <Field label={label} hint={hint} error={error}>
    {(described) => (
      <select {...select} {...described} className="select">
        {options.map(({ value, label: text }) => (
          <option key={value} value={value}>
            {text}
          </option>
        ))}
      </select>
    )}
  </Field>
);

export function CheckField({ label, hint, ...input }: Omit<FieldProps, 'error'> & ComponentProps<'input'>) {
  const id = useId();
  return (
    <div className="check">
      <input {...input} id={id} type="checkbox" aria-describedby={hint ? `${id}-hint` : undefined} />
      <label htmlFor={id}>{label}</label>
      {hint && (
        <p className="field-hint" id={`${id}-hint`}>
          {hint}
        </p>
      )}
    </div>
  );
}

/**
 * The server's message about a field, for its `error`.
 *
 * @example
 * <TextField label="Name" error={fieldError(create.error, 'name')} />
 */
export function fieldError(error: unknown, path: string): string | undefined {
  if (!(error instanceof ApiError)) return undefined;
  return error.details.find((detail) => detail.path?.join('.') === path)?.message;
}
