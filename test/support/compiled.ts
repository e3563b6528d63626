/** Where the processes of all tests keep their compiled sources, for the next process and the next run of the tests. */
import { fileURLToPath } from 'node:url';

/** Compiling takes longer than everything else that a short process does. */
export const COMPILED = fileURLToPath(new URL('../../node_modules/.cache/compiled', import.meta.url));
