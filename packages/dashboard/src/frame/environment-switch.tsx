import { useNavigate } from '@tanstack/react-router';
import { useAsk } from '../api/ask.ts';
import { useEnvironment } from '../api/environment.ts';
import { environmentNames, useProject, useSession, type Project } from '../api/session.ts';
import { Icon } from '../parts/icons.tsx';
import { Popover } from '../parts/popover.tsx';

/** Project, environment and branch. A change keeps the page: runs of dev become runs of prod. */
export function EnvironmentSwitch() {
  const environment = useEnvironment();
  const project = useProject();
  const name = environmentNames[environment.kind as keyof typeof environmentNames] ?? environment.kind;
  return (
    <Popover
      label="Choose an environment"
      align="start"
      className="menu env-menu"
      trigger={
        <button type="button" className="env-switch">
          <span className="hidden-text">Environment: </span>
          <span className="env-mark" aria-hidden="true">
            {environment.kind.slice(0, 1).toUpperCase()}
          </span>
          <span className="env-text">
            <span className="cut strong">{project?.name ?? environment.project}</span>
            <span className="cut env-name">
              {name}
              {environment.branch !== undefined && ` · ${environment.branch}`}
            </span>
          </span>
          <Icon name="down" size={14} />
        </button>
      }
      content={(close) => <Choices onDone={close} />}
    />
  );
}

function Choices({ onDone }: { readonly onDone: () => void }) {
  const { projects } = useSession();
  const current = useEnvironment();
  return projects.map((project) => (
    <div key={project.ref} role="group" aria-label={project.name}>
      <p className="menu-label cut">
        {project.organization.name} / {project.name}
      </p>
      {project.environments.map(({ name, paused }) => (
        <Choice
          key={name}
          project={project}
          kind={name}
          isPaused={paused}
          isCurrent={project.ref === current.project && name === current.kind && current.branch === undefined}
          onDone={onDone}
        />
      ))}
      {project.ref === current.project && <Branches project={project} onDone={onDone} />}
    </div>
  ));
}

/** Branches of dev and preview. */
function Branches({ project, onDone }: { readonly project: Project; readonly onDone: () => void }) {
  const current = useEnvironment();
  const branches = useAsk('listBranches', { params: { projectRef: project.ref } }, { inEnvironment: false });
  const all = branches.data?.branches ?? [];
  return all.map(({ name, env, isPaused }) => (
    <Choice
      key={`${env}~${name}`}
      project={project}
      kind={env}
      branch={name}
      isPaused={isPaused}
      isCurrent={env === current.kind && name === current.branch}
      onDone={onDone}
    />
  ));
}

interface ChoiceProps {
  readonly project: Project;
  readonly kind: string;
  readonly branch?: string;
  readonly isPaused: boolean;
  readonly isCurrent: boolean;
  readonly onDone: () => void;
}

function Choice({ project, kind, branch, isPaused, isCurrent, onDone }: ChoiceProps) {
  const navigate = useNavigate();
  const slug = branch === undefined ? kind : `${kind}~${branch}`;
  return (
    <button
      type="button"
      className="menu-item env-choice"
      data-env={kind}
      aria-current={isCurrent ? 'true' : undefined}
      onClick={() => {
        onDone();
        // The list of the same kind, because a run of dev does not exist in prod.
        const [, page = ''] =
          /^\/p\/[^/]+\/[^/]+(\/[a-z]+)?/.exec(location.pathname.slice(basePathLength())) ?? [];
        void navigate({
          to: `/p/${encodeURIComponent(project.ref)}/${encodeURIComponent(slug)}${page}` as '/',
        });
      }}
    >
      <span className="env-dot" aria-hidden="true" />
      <span className="cut">{branch ?? environmentNames[kind as keyof typeof environmentNames] ?? kind}</span>
      {isPaused && <span className="muted small">paused</span>}
      <span className="menu-mark env-check">{isCurrent && <Icon name="check" size={14} />}</span>
    </button>
  );
}

const basePathLength = (): number => new URL(document.baseURI).pathname.replace(/\/$/, '').length;
