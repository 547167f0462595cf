import './ui/tokens.css';
import { QueryClientProvider } from '@tanstack/react-query';
import { RouterProvider } from '@tanstack/react-router';
import { StrictMode } from 'react';
import { createRoot } from 'react-dom/client';
import { queryClient } from './api/client.ts';
import { router } from './router.tsx';
import { applyTheme } from './ui/theme.ts';
import { language, t } from './words/words.ts';

applyTheme();
document.documentElement.lang = language;

const root = document.getElementById('root');
if (root === null) throw new Error(t('index.html has no element #root.'));

createRoot(root).render(
  <StrictMode>
    <QueryClientProvider client={queryClient}>
      <RouterProvider router={router} />
    </QueryClientProvider>
  </StrictMode>,
);
