import { Button } from './button.tsx';
import './segments.css';

interface SegmentsProps<V extends string> {
  /** What is chosen: "Time", "Outcome". */
  readonly label: string;
  readonly options: readonly { readonly value: V; readonly label: string }[];
  readonly value: V;
  readonly onChange: (value: V) => void;
}

/** One of a few, side by side. */
export const Segments = <V extends string>({ label, options, value, onChange }: SegmentsProps<V>) => (
  <div className="segments" role="group" aria-label={label}>
    {options.map((option) => (
      <Button
        key={option.value}
        look="plain"
        aria-pressed={option.value === value}
        onClick={() => onChange(option.value)}
      >
        {option.label}
      </Button>
    ))}
  </div>
);
