#!/usr/bin/env node
/** Starts the program from its sources, sooner than main.ts does by itself: see compile-cache.js. */
import { keepCompiled } from './cli/compile-cache.js';
import { isNodeSuitable } from './cli/node-version.js';

if (isNodeSuitable()) {
  keepCompiled(process.env);
  await import('./main.ts');
}
