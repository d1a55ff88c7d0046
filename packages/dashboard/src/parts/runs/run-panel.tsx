import { createContext, Suspense, use, type ComponentType } from 'react';
import { Icon } from '../icons.tsx';
import { PageLink } from '../page-link.tsx';
import { SidePanel } from '../panel/side-panel.tsx';
import { Skeleton } from '../failure.tsx';
import { useSearchTexts } from '../search.ts';

/** The short form of a run's page. routes.tsx provides it, because pages do not import each other. */
export const RunPanelContext = createContext<ComponentType<{ readonly runId: string }> | undefined>(
  undefined,
);

/** The run given by `panel` in the address, next to the list. Usable on any page with a list of runs. */
export function RunSidePanel() {
  const [{ panel }, setSearch] = useSearchTexts();
  const Content = use(RunPanelContext);
  const isRun = panel?.startsWith('run_') === true;
  return (
    <SidePanel
      isOpen={isRun}
      onClose={() => setSearch({ panel: undefined })}
      title="Run"
      subject={panel}
      actions={
        isRun && (
          <PageLink to={`/runs/${panel}`} className="button">
            <Icon name="open" size={14} />
            Open the page
          </PageLink>
        )
      }
    >
      {isRun && Content && (
        <Suspense fallback={<Skeleton lines={8} />}>
          <Content key={panel} runId={panel} />
        </Suspense>
      )}
    </SidePanel>
  );
}
