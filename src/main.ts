#!/usr/bin/env node
/** The program. The compile cache only covers modules that load after it is enabled, so the import comes last. */
import { keepCompiled } from './cli/compile-cache.js';
import { keepHeapSmall } from './cli/heap.ts';
import { isNodeSuitable } from './cli/node-version.js';

if (isNodeSuitable()) {
  keepCompiled(process.env);
  keepHeapSmall();
  const { runProcess } = await import('./cli/process.ts');
  await runProcess((code) => process.exit(code));
}
