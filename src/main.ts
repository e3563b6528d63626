#!/usr/bin/env node
/** The program. What is compiled is kept only of what is loaded after saying so, hence the import at the end. */
import { keepCompiled } from './cli/compile-cache.js';
import { keepHeapSmall } from './cli/heap.ts';

keepCompiled(process.env);
keepHeapSmall();
const { runProcess } = await import('./cli/process.ts');
await runProcess((code) => process.exit(code));
