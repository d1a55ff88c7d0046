import { QueryClientProvider } from '@tanstack/react-query';
import { RouterProvider } from '@tanstack/react-router';
import { CSPProvider } from '@base-ui/react/csp-provider';
import { StrictMode } from 'react';
import { createRoot } from 'react-dom/client';
import { queryClient } from './api/ask.ts';
import { TipLayer } from './parts/tip.tsx';
import { Toasts } from './parts/toasts/toasts.tsx';
import { takeLink } from './pages/login/link.ts';
import { router } from './routes.tsx';
import './styles/tokens.css';
import './styles/base.css';

// Before anything else reads the address.
takeLink();

const root = document.querySelector('#root');
if (root)
  createRoot(root).render(
    <StrictMode>
      {/* The content security policy allows no inline style elements. */}
      <CSPProvider disableStyleElements>
        <QueryClientProvider client={queryClient}>
          <RouterProvider router={router} />
          <Toasts />
          <TipLayer />
        </QueryClientProvider>
      </CSPProvider>
    </StrictMode>,
  );
