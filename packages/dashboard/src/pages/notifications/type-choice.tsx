import type { NotificationType } from '@millrace/contract';
import { CheckField } from '../../parts/form/field.tsx';
import { typeWords } from './types.ts';

interface TypeChoiceProps {
  readonly types: readonly NotificationType[];
  readonly chosen: readonly string[];
  readonly onChange: (chosen: readonly string[]) => void;
  readonly error?: string | undefined;
}

const covers = (selector: string, type: string): boolean =>
  selector === '*' ||
  selector === type ||
  (selector.endsWith('.*') && type.startsWith(selector.slice(0, -1)));

/** The types of notifications for an endpoint. A selector such as `error.*` is shown as all types that it includes. */
export function TypeChoice({ types, chosen, onChange, error }: TypeChoiceProps) {
  const is = (type: string): boolean => chosen.some((selector) => covers(selector, type));
  return (
    <fieldset className="notification-types">
      <legend className="field-label">Notification types</legend>
      {types.map((type) => (
        <CheckField
          key={type}
          label={typeWords[type]}
          checked={is(type)}
          onChange={(event) =>
            onChange(types.filter((candidate) => (candidate === type ? event.target.checked : is(candidate))))
          }
        />
      ))}
      {error !== undefined && (
        <p className="field-error" role="alert">
          {error}
        </p>
      )}
    </fieldset>
  );
}
