import { unmetRequirements } from '../dispatch/unmet-requirements.ts';
import type { RunnerProperties, StartConditions } from './start-conditions.ts';

const maxNamed = 3;

/** Why no connected runner can execute the version that a run needs; undefined if one can. */
export function whyNoRunner(conditions: StartConditions): string | undefined {
  const { version, bound, canary, needs, archived, runners } = conditions;
  const which = bound
    ? `version ${version}, to which the run is bound`
    : `the ${canary ? 'canary' : 'current version'} ${version}`;
  const obstacles = runners.map((runner) => obstacleOf(runner, needs));
  if (obstacles.includes(undefined)) return undefined;
  const orMove = bound
    ? ` Or move its runs to another version: \`millrace versions move ${version} …\`.`
    : '';
  if (archived && !runners.some(({ loaded }) => loaded))
    return `No connected runner has ${which}, and its files were deleted because it is archived. Cancel the run, or move it to another version with \`millrace versions move ${version} …\`.`;
  if (needs === null && !runners.some(({ loaded }) => loaded))
    return `No connected runner has ${which}. Start one with \`millrace work\` in its folder.${orMove}`;
  if (runners.length === 0)
    return `No runner is connected that can execute ${which}. Start one with \`millrace work\`.${orMove}`;
  const named = obstacles.slice(0, maxNamed).join('; ');
  const others = obstacles.length > maxNamed ? `; and ${obstacles.length - maxNamed} more` : '';
  return `No connected runner can execute ${which}: ${named}${others}.${orMove}`;
}

/** The reason that a runner cannot execute the version; undefined if it can. */
function obstacleOf(runner: RunnerProperties, needs: StartConditions['needs']): string | undefined {
  const { host, platform, nodeMajor, labels, draining, loaded, unable } = runner;
  if (draining) return `the runner on ${host} accepts no more attempts`;
  if (loaded) return undefined;
  if (platform === null || nodeMajor === null || needs === null)
    return `the runner on ${host} has only the versions of its folder`;
  const missing = unmetRequirements({ platform, nodeMajor, labels }, needs);
  if (missing.length > 0) return `the runner on ${host} lacks ${missing.join(' and ')}`;
  return unable === null ? undefined : `the runner on ${host} could not load it (${unable})`;
}
