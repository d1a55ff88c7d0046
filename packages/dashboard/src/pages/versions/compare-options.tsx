import type { ReplyOf } from '../../api/operation-types.ts';
import { visibleControls } from '../../parts/json/visible-controls.ts';
import '../../parts/plot/plot.css';

/** A part of a JSON Schema may be large. */
const maxValue = 300;

const valueText = (value: unknown): string => {
  if (value === undefined) return '–';
  const text = JSON.stringify(value);
  return visibleControls(text.length > maxValue ? `${text.slice(0, maxValue)}…` : text);
};

/** The options of tasks that differ, with the old and the new value. */
export const OptionChanges = ({ comparison }: { readonly comparison: ReplyOf<'compareDeployments'> }) => (
  <div className="card scroll-x" tabIndex={0} role="region" aria-label="Old and new options">
    <table className="plain-table compare-options">
      <thead>
        <tr>
          {['Task', 'Option', comparison.before.version, comparison.after.version].map((name) => (
            <th key={name} scope="col">
              {name}
            </th>
          ))}
        </tr>
      </thead>
      <tbody>
        {comparison.tasks.flatMap(({ id, changes }) =>
          changes.map(({ field, before, after }) => (
            <tr key={`${id} ${field}`}>
              <th scope="row" className="mono">
                {visibleControls(id)}
              </th>
              <td>
                <code>{visibleControls(field)}</code>
              </td>
              <td>
                <code>{valueText(before)}</code>
              </td>
              <td>
                <code>{valueText(after)}</code>
              </td>
            </tr>
          )),
        )}
      </tbody>
    </table>
  </div>
);
