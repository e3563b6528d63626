/** The only tool that spends points: it runs syncs under the cap of the server. */
import * as z from 'zod';
import { type Tool, type ToolAnswer, tool } from './tool.ts';

/** Runs these syncs, for at most so many points in this call. */
export type RunSyncs = (
  names: readonly string[],
  maxPoints: number | undefined,
  signal: AbortSignal,
) => Promise<ToolAnswer>;

/** The tool for a server that may spend `cap` points. */
export const syncTool = (cap: number, run: RunSyncs): Tool =>
  tool({
    name: 'sync',
    title: 'Run syncs',
    description:
      'Run syncs of the config: send the requests that no fresh answer serves, and load the answers. This SPENDS POINTS of a paid account. ' +
      `All calls together may spend ${cap} points; cap in the result shows what is left. Call plan first, and run only what the user asked for. ` +
      'It can take minutes. After a cancellation or an error, a call for the same syncs continues where the last one stopped.',
    holds: 'data',
    isReadOnly: false,
    input: z.strictObject({
      names: z.array(z.string()).min(1).describe('Syncs of the config, as plan lists them.'),
      max_points: z.int().min(1).optional().describe('The most points that this call may spend, if less than is left.'),
    }),
    result: z.looseObject({
      cap: z.object({ cap: z.number(), spent: z.number(), left: z.number() }).describe('Points of all calls together.'),
      exitCode: z.number(),
      syncs: z.array(z.looseObject({ sync: z.string(), state: z.string(), exitCode: z.number(), points: z.number() })),
    }),
    run: ({ names, max_points: maxPoints }, signal) => run(names, maxPoints, signal),
  });
