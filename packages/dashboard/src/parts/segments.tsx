import { Button } from './button.tsx';

interface SegmentsProps<V extends string> {
  /** What is chosen: "Time", "Outcome". */
  readonly label: string;
  /** A text is its own label. */
  readonly options: readonly (
    | V
    | { readonly value: V; readonly label: string; readonly isDisabled?: boolean }
  )[];
  /** Undefined: none of them. */
  readonly value: V | undefined;
  readonly onChange: (value: V) => void;
}

/** One of a few, side by side. */
export const Segments = <V extends string>({ label, options, value, onChange }: SegmentsProps<V>) => (
  <div className="segments" role="group" aria-label={label}>
    {options
      .map((option) => (typeof option === 'string' ? { value: option, label: option } : option))
      .map((option) => (
        <Button
          key={option.value}
          look="plain"
          aria-pressed={option.value === value}
          disabled={option.isDisabled}
          onClick={() => onChange(option.value)}
        >
          {option.label}
        </Button>
      ))}
  </div>
);
