import { ApiError, messageOf } from '../../api/api-error.ts';
import './form.css';

interface FormErrorProps {
  readonly error: unknown;
  /** Fields that show their own errors. */
  readonly fields?: readonly string[];
}

/** The error of a form as a whole: the server's message, and its details about values without a field. */
export function FormError({ error, fields = [] }: FormErrorProps) {
  if (error === null || error === undefined) return null;
  const details = error instanceof ApiError ? error.details : [];
  const others = details.filter(({ path }) => path === undefined || !fields.includes(path.join('.')));
  if (details.length > 0 && others.length === 0) return null;
  const sentence = messageOf(error);
  const rest = others.filter(({ message }) => !sentence.includes(message));
  return (
    <div className="field-error" role="alert">
      <p>{sentence}</p>
      {rest.length > 0 && (
        <ul>
          {rest.map(({ message, path }) => (
            <li key={`${path?.join('.') ?? ''} ${message}`}>{message}</li>
          ))}
        </ul>
      )}
    </div>
  );
}
