/** The paths of the pages of each site in the sandbox. */

export const PATHS = [
  '/',
  '/about',
  '/contact',
  '/products',
  '/blog/',
  '/blog/post-1',
  '/blog/post-2',
  '/blog/post-3',
  '/blog/post-4',
  '/blog/post-5',
] as const;
export type PagePath = (typeof PATHS)[number];

export const isPagePath = (path: string): path is PagePath => (PATHS as readonly string[]).includes(path);
