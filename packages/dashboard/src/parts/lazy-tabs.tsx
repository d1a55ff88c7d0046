import { lazy, Suspense, type ComponentProps } from 'react';

const Loaded = lazy(async () => ({ default: (await import('./tabs.tsx')).Tabs }));

/** `Tabs` inside a popup, loaded with it. */
export const LazyTabs = (props: ComponentProps<typeof Loaded>) => (
  <Suspense>
    <Loaded {...props} />
  </Suspense>
);
