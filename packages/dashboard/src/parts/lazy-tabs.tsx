import { lazy, Suspense, type ComponentProps } from 'react';

const Loaded = lazy(async () => ({ default: (await import('./tabs.tsx')).Tabs }));

/** `Tabs` in something that opens: they come with it. */
export const LazyTabs = (props: ComponentProps<typeof Loaded>) => (
  <Suspense>
    <Loaded {...props} />
  </Suspense>
);
