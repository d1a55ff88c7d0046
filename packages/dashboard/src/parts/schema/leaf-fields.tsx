import { useState } from 'react';
import { TextArea, TextField } from '../form/field.tsx';

interface LeafProps {
  readonly label: string;
  readonly hint: string | undefined;
  readonly value: unknown;
  readonly onChange: (value: unknown) => void;
}

/** A number is a string while it is typed: `1.` and `-` are incomplete. */
export function NumberField({
  label,
  hint,
  value,
  onChange,
  isWhole,
}: LeafProps & { readonly isWhole: boolean }) {
  const [text, setText] = useState(value === undefined ? '' : String(value));
  const isShown = text.trim() === '' ? value === undefined : Number(text) === value;
  const [known, setKnown] = useState(value);
  // The value was changed elsewhere.
  if (known !== value) {
    setKnown(value);
    if (!isShown) setText(value === undefined ? '' : String(value));
  }
  const isWrong =
    text.trim() !== '' && !(isWhole ? /^-?\d+$/ : /^-?(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d+)?$/i).test(text.trim());
  return (
    <TextField
      label={label}
      hint={hint}
      inputMode={isWhole ? 'numeric' : 'decimal'}
      value={text}
      error={isWrong ? `Enter a ${isWhole ? 'whole ' : ''}number.` : undefined}
      onChange={(event) => {
        const next = event.target.value;
        setText(next);
        const number = Number(next);
        const read = next.trim() === '' || Number.isNaN(number) ? undefined : number;
        setKnown(read);
        onChange(read);
      }}
    />
  );
}

/** A value without a specific field. */
export function JsonField({ label, hint, value, onChange }: LeafProps) {
  const formatted = value === undefined ? '' : JSON.stringify(value, undefined, 2);
  const [text, setText] = useState(formatted);
  const [known, setKnown] = useState(formatted);
  const [error, setError] = useState<string>();
  if (known !== formatted) {
    setKnown(formatted);
    setText(formatted);
    setError(undefined);
  }
  return (
    <TextArea
      label={label}
      code
      rows={Math.min(10, text.split('\n').length + 1)}
      hint={hint === undefined ? 'JSON' : `JSON; ${hint}`}
      error={error}
      value={text}
      onChange={(event) => setText(event.target.value)}
      onBlur={() => {
        if (text.trim() === '') return onChange(undefined);
        try {
          const next: unknown = JSON.parse(text);
          setError(undefined);
          onChange(next);
        } catch (thrown) {
          setError(`This is not JSON: ${(thrown as Error).message}`);
        }
      }}
    />
  );
}
