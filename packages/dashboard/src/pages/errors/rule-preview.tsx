import type { ErrorRulePreview } from '@millrace/contract';
import { countText } from '../../parts/count-text.ts';
import { visibleControls } from '../../parts/json/visible-controls.ts';
// The table's style.
import '../../parts/plot/plot.css';

/** The effect that a rule would have. The preview changes nothing. */
export const RulePreview = ({
  preview: { looked, matched, from, into },
  isOutdated,
}: {
  readonly preview: ErrorRulePreview;
  /** The patterns have changed since. */
  readonly isOutdated: boolean;
}) => (
  <div className={`card rule-preview ${isOutdated ? 'is-outdated' : ''}`} role="status">
    <p>
      <span className="strong">
        {matched.toLocaleString('en')} of the latest {countText(looked, 'failed run')} match
      </span>
      {matched > 0 && `: from ${countText(from.length, 'group')} into ${into.length.toLocaleString('en')}.`}
      {isOutdated && <span className="tone-warn"> The patterns have changed since.</span>}
    </p>
    {from.length > 0 && (
      <table className="plain-table">
        <thead>
          <tr>
            <th scope="col">Group</th>
            <th scope="col">Task</th>
            <th scope="col" className="is-end">
              Match
            </th>
          </tr>
        </thead>
        <tbody>
          {from.slice(0, 50).map((group) => (
            <tr key={group.id}>
              <td className="any-break">
                <span className="strong">{visibleControls(group.errorType)}</span>{' '}
                {visibleControls(group.errorMessage.slice(0, 200))}
              </td>
              <td className="any-break">{visibleControls(group.taskIdentifier)}</td>
              <td className="is-end number">
                {group.matched.toLocaleString('en')} of {group.looked.toLocaleString('en')}
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    )}
  </div>
);
