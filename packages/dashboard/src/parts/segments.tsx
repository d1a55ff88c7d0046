import { Button } from './button.tsx';

interface SegmentsProps<V extends string> {
  /** The name of the choice: "Time", "Outcome". */
  readonly label: string;
  /** A string is its own label. */
  readonly options: readonly (
    | V
    | { readonly value: V; readonly label: string; readonly isDisabled?: boolean }
  )[];
  /** Undefined: none of them. */
  readonly value: V | undefined;
  readonly onChange: (value: V) => void;
}

/** A choice between a few options, side by side. */
export const Segments = <V extends string>({ label, options, value, onChange }: SegmentsProps<V>) => (
  <div className="segments" role="group" aria-label={label}>
    {options
      .map((option) => (typeof option === 'string' ? { value: option, label: option } : option))
      .map((option) => (
        <Button
          key={option.value}
          variant="plain"
          aria-pressed={option.value === value}
          disabled={option.isDisabled}
          onClick={() => onChange(option.value)}
        >
          {option.label}
        </Button>
      ))}
  </div>
);
